"""Learn and score one example: convert a dict to a row, or to a list of present features, and call a pass."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any, ClassVar

from ...core.block.layout import UNLIMITED
from ..inputs.features import CHANGED_WHILE_READ, FeatureIndex
from ..one_writer import Turn
from .batch_passes import ManyAtOnce
from .calls import PreparedList, PreparedRow
from .fast_path import FastPath, c_functions, no_fast_path

NO_PLACES = itertools.repeat(-1)  # the places of unknown names


class OneByOne(ManyAtOnce):
    """Mixin of StreamModel: how it learns and scores one example, whose target has been checked."""

    free_rows: list[PreparedRow]
    free_lists: list[PreparedList]
    turn: Turn
    fast_path: FastPath
    draws_features: ClassVar[bool]
    _replace_attributes: Callable[..., None]
    _new_row: Callable[[], PreparedRow]
    _new_list: Callable[[dict[Any, Any]], PreparedList]

    def _learn_fast(self, x: dict[Any, Any], target: float, w: float, labels: Any = None) -> Any:
        """Learn an example by the fast path; returns the scores before learning, or None if Python has to convert it.

        None means that the model is unchanged. The target has been checked and coded with these labels. The
        lines that take the turn are those of _learn_row: between test and assignment there must be no call
        (model/one_writer.py).
        """
        turn = self.turn
        while turn.wanted or turn.taken:
            turn.wait()
        turn.taken = True
        try:
            if labels is not None and labels is not self.labels:  # type: ignore[attr-defined]
                turn.refuse()  # another thread has added a label since the target was coded
            return self.fast_path.learn(x, target, w, True)
        finally:
            turn.taken = False

    def _learn_row(self, x: dict[Any, Any], target: float, w: float, labels: Any = None) -> None:
        """Learn one example, whose target has been checked and coded with these labels."""
        turn = self.turn
        while turn.wanted or turn.taken:
            turn.wait()
        turn.taken = True
        try:
            if labels is not None and labels is not self.labels:  # type: ignore[attr-defined]
                turn.refuse()  # another thread has added a label since the target was coded
            if self.fast_path.learn(x, target, w) is not None:
                return
            turn.thread = threading.get_ident()
            self._learn_the_long_way(x, target, w)
        finally:
            turn.thread = 0
            turn.taken = False

    def _learn_the_long_way(self, x: dict[Any, Any], target: float, w: float) -> None:
        """Learn one example, converted by Python. The caller has exclusive access."""
        features = self.features
        if self.block is not None and not features.loose:
            prepared = self._row()
            if features.pack(x, prepared.values):
                self._learn_packed(prepared, x, target, w)
                return
            self.free_rows.append(prepared)
        x = features.taken(x)
        self._learn_or_restore(lambda: self._learn_taken(x, target, w))

    def _learn_or_restore(self, learn: Callable[[], None]) -> None:
        """Call `learn`; if it raises before the pass begins, restore the model as it was.

        A comparison of a user-defined name may raise, also after other names were added. With such names the
        block is never changed in place (base.py), so restoring the attributes is enough.
        """
        turn, own = self.turn, self.__dict__
        before, outer, turn.begun = own.copy(), turn.learning, False
        turn.learning = True
        try:
            learn()
        except Exception:
            same_block = own["block"] is before["block"]
            if not turn.begun and (not same_block or own["features"] is before["features"]):
                self._replace_attributes(**before)
            raise
        finally:
            turn.learning = outer

    def _row(self) -> PreparedRow:
        """A prepared call for a whole row."""
        try:  # pop is atomic: no two threads get the same row
            return self.free_rows.pop()
        except IndexError:
            return self._new_row()

    def _learn_taken(self, x: dict[Any, Any], target: float, w: float) -> None:
        """Learn a checked copy of an example (`FeatureIndex.taken`)."""
        if self.block is None:
            self.add_features(list(x))
        if self.features.loose:
            self._learn_list(x, target, w)
            return
        prepared = self._row()
        if not self.features.pack(x, prepared.values):
            if self.takes_lists:
                self.free_rows.append(prepared)
                self._learn_list(x, target, w)
                return
            if not self.features.pack_some(x, prepared.values):
                self.add_features(self.features.unknown(x))
                prepared = self._new_row()
                if not self.features.pack_some(x, prepared.values):
                    raise RuntimeError(CHANGED_WHILE_READ)
        self._learn_packed(prepared, x, target, w)

    def _learn_packed(
        self, prepared: PreparedRow, x: dict[Any, Any], target: float, w: float
    ) -> None:
        """Learn an example that has been written into a prepared row."""
        prepared.target[0] = target
        prepared.weight[0] = w
        features, self.turn.begun = self.features, True
        if prepared.pass_holder.learning_pass(prepared.addresses):
            self._free_or_use(prepared, features, self.free_rows)
        else:
            features.reject(x)
            self.run_pass(*prepared.arrays[2:])

    def _free_or_use(
        self, prepared: PreparedRow | PreparedList, features: FeatureIndex, free: list[Any]
    ) -> None:
        """Keep a used prepared call: for the fast path, else in the list of free calls."""
        fast_path, block = self.fast_path, prepared.arrays[0]
        if not (features.plain and c_functions()):
            free.append(prepared)  # compiled code cannot read these names: no fast path
            return
        if fast_path.score is no_fast_path and not features.scaled:
            made = FastPath.of(block, features, self.draws_features, *self._review_schedule())
            if made.score is not no_fast_path:
                made.set_passes(self.scoring_pass, prepared.pass_holder.learning_pass)
                made.set_call(prepared)
                own = self.__dict__
                # no other thread runs between this comparison and the assignment (model/one_writer.py)
                if (
                    own["block"] is block
                    and own["features"] is features
                    and own["fast_path"] is fast_path
                ):
                    own["fast_path"] = made
                    return
        elif fast_path.block is block and fast_path.features is features:
            found = fast_path.set_passes(self.scoring_pass, prepared.pass_holder.learning_pass)
            if fast_path.set_call(prepared) or found:
                return
        free.append(prepared)

    def _review_schedule(self) -> tuple[int, int]:
        """(sparsity threshold, arrival count) from which the fast path refuses sparse examples.

        Python, which learns them instead, then reconsiders how the model stores its vectors.
        """
        return 0, UNLIMITED

    def _learn_list(self, x: dict[Any, Any], target: float, w: float) -> None:
        """Learn an example that has unknown features, or lacks some of the known ones."""
        found = list(map(self.features.places.get, x))
        if None in found:
            self.add_features([name for name, i in zip(x, found, strict=True) if i is None], x)
            found = list(map(self.features.places.get, x))
            if None in found:
                raise RuntimeError(CHANGED_WHILE_READ)
        self._learn_prepared(self._list_for(x), found, x, target, w)

    def _learn_prepared(
        self, prepared: PreparedList, places: list[Any], x: dict[Any, Any], target: float, w: float
    ) -> None:
        """Learn an example whose features have these places, with a prepared call."""
        prepared.fill(places, self.features.values_of(x))
        prepared.target[0] = target
        prepared.weight[0] = w
        self.turn.begun = True
        if prepared.pass_holder.learning_pass(prepared.addresses):
            self._free_or_use(prepared, self.features, self.free_lists)
            self.fast_path.update_places()  # a predicting thread may have made it before names got places
        else:
            self.run_pass(*prepared.arrays[2:])

    def _list_for(self, x: dict[Any, Any]) -> PreparedList:
        """A prepared call with room for this example."""
        try:
            prepared = self.free_lists.pop()
            if len(x) <= prepared.room:
                return prepared
        except IndexError:
            pass
        return self._new_list(x)

    def _score_row(self, x: dict[Any, Any]) -> Any:
        """f(x), a list with one number per output. Missing values in x count as absent features.

        River's scalers return NaN for features that they have not learned, and in progressive validation the
        prediction comes first.
        """
        found = self.fast_path.score(x)
        return self._score_the_long_way(x) if found is None else found

    def _score_the_long_way(self, x: dict[Any, Any]) -> Any:
        """f(x), converted by Python; leaves out missing values if a value is no finite number."""
        try:
            return self._score_numbers(x)
        except ValueError:
            return self._score_numbers(self.features.present(x))

    def _score_numbers(self, x: dict[Any, Any]) -> Any:
        """f(x) of an example whose values must all be finite numbers."""
        if self.block is None:
            self.features.reject(x)
            return [0.0] * self.n_outputs
        while True:
            features, free = self.features, self.free_rows  # replaced whenever the block is
            if features.loose:
                return self._score_list(x)
            try:
                prepared = free.pop()
            except IndexError:
                prepared = self._new_row()
            if not features.pack(x, prepared.values):
                if self.takes_lists:
                    free.append(prepared)
                    return self._score_list(x)
                x = features.taken(x)
                known = {name: x[name] for name in x if name in features.places}
                if not features.pack_some(known, prepared.values):
                    continue
            if features is self.features:  # else another thread has added features
                break
        if not self.scoring_pass(prepared.addresses):
            self.features.reject(x)
        scores = prepared.scores.tolist()  # read before another thread takes the row
        self._free_or_use(prepared, features, free)
        return scores

    def _score_list(self, x: dict[Any, Any]) -> Any:
        """f(x) of an example that has unknown features, or lacks some of the known ones."""
        x = self.features.taken(x)
        while True:
            features, free = self.features, self.free_lists
            before = features.taken_back
            found = list(map(features.places.get, x, NO_PLACES))
            if self.draws_features and -1 in found:
                return self._score_with_unknown(x)
            prepared = self._list_for(x)  # whose block has room for all places found before
            if features is not self.features:
                continue  # another thread has given places to features
            prepared.fill(found, features.values_of(x))
            if prepared.keyed and -1 in found:
                prepared.write_order(x, found)
            if not self.scoring_pass(prepared.addresses):
                features.reject(x)
                if -1 in found and not prepared.keyed:
                    prepared.use_keys()
                    prepared.write_order(x, found)
                    self.scoring_pass(prepared.addresses)
            scores = prepared.scores.tolist()
            self._free_or_use(prepared, features, free)
            if features.taken_back == before or found == list(
                map(features.places.get, x, NO_PLACES)
            ):
                return scores  # else other names may have got these places

    def _score_with_unknown(self, x: dict[Any, Any]) -> Any:
        """f(x) of a model whose scores depend on unknown features too."""
        raise NotImplementedError
