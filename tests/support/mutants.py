"""Small mistakes put into the package on purpose: do the tests notice each of them?

    python tests/support/mutants.py                      all mutants, two at a time
    python tests/support/mutants.py --only 7 12 --rest   two of them; those alive meet the rest of the quick tests too
    python tests/support/mutants.py --list               what there is, and which mutants no longer apply

Each worker has a copy of the package and of the tests in a folder of its own, with its own cache of numba. For each
mutant it changes one file, runs the test files that are named, stops at the first failure and puts the file back.
A mutant of core is compiled anew. A crash or a test that hangs counts as noticed.

The places were chosen by reading the package, evenly over its files and without looking at the tests: 30 in core,
30 in the Python layer. EARLIER are those that an earlier version of the tests had let live, PROMISES break what the README promises.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

from folders import ROOT, TESTS

COPIED = ("river_budget", "tests", "examples", "README.md", "CHANGELOG.md", "pyproject.toml")
PATIENCE = 900  # seconds for the named files, and three times as many for the rest


class Mutant(NamedTuple):
    """One change: in `file` of river_budget, `old`, which occurs once, becomes `new`."""

    file: str
    old: str
    new: str
    tests: str  # the files that are run, narrowed at first to the tests that `only` (pytest's -k) chooses
    only: str = ""


CORE = [
    Mutant(
        "core/passes/gradient/bogd.py",
        "rescale(model, n / (n - 1.0))",
        "rescale(model, (n + 1.0) / n)",
        "replay_family",
        "BOGD",
    ),
    Mutant(
        "core/passes/gradient/bogd.py",
        "one_sided = head.task == MULTICLASS and",
        "one_sided = head.task == MULTICLASS or",
        "replay_family digits",
        "BOGD",
    ),
    Mutant(
        "core/passes/perceptrons/bpa.py",
        "if determinant <= TINY * k_tt * k_nn:",
        "if determinant < 0.0:",
        "replay_family family_laws properties",
        "BPA-nearest or heirs",
    ),
    Mutant(
        "core/passes/perceptrons/bpa.py",
        "(row[i] == row[best] and model.arrivals[i] < model.arrivals[best])",
        "(row[i] == row[best] and model.arrivals[i] > model.arrivals[best])",
        "replay_family merge",
        "BPA-nearest or neighbours",
    ),
    Mutant(
        "core/passes/gradient/bsgd.py",
        "    state.norm2 *= decay * decay\n",
        "    state.norm2 *= decay\n",
        "merging",
        "kept_while or bound_on",
    ),
    Mutant(
        "core/passes/gradient/bsgd.py",
        "state.unchecked += before - model.head.count",
        "state.unchecked += 0",
        "merging repairs",
        "looked_at",
    ),
    Mutant(
        "core/passes/perceptrons/budget_perceptron.py",
        "margins[i] = without if coefficients[i] > 0.0 else -without",
        "margins[i] = without",
        "replay_family",
        "CKS",
    ),
    Mutant(
        "core/simd/exponential.py",
        "0.0013888888917198419",
        "0.0013888889917198419",
        "numerics",
        "exponential",
    ),
    Mutant(
        "core/passes/perceptrons/forgetron.py",
        "spent - 15.0 / 32.0 * mistakes",
        "spent - 0.5 * mistakes",
        "family_laws",
        "largest_that or allowance",
    ),
    Mutant(
        "core/passes/perceptrons/forgetron.py",
        "margin if head.task == BINARY else abs(f[0])",
        "margin",
        "replay_family",
        "Forgetron",
    ),
    Mutant(
        "core/passes/features/fourier.py",
        "amount = clamp_step(step) * sign / model.head.count",
        "amount = clamp_step(step) * sign / (model.head.count + 1)",
        "fourier",
        "replayed",
    ),
    Mutant(
        "core/block/layout.py",
        "SEARCH_ROWS = 9",
        "SEARCH_ROWS = 8",
        "bounds merging",
        "beside and cascade",
    ),
    Mutant(
        "core/block/layout.py",
        "h.arity * (h.arity + h.outputs + h.width + 10)",
        "h.arity * (h.arity + h.width + 10)",
        "bounds",
        "beside and (cascade or gradient)",
    ),
    Mutant(
        "core/rounds/losses.py",
        "if r != y and scores[r] > scores[best]:",
        "if r != y and scores[r] >= scores[best]:",
        "replay_family replay",
        "three_classes",
    ),
    Mutant(
        "core/budget/keep.py",
        "return length - 2.0 * along_row(model, model.row, p)",
        "return length - along_row(model, model.row, p)",
        "merging",
        "kept_while and Remove",
    ),
    Mutant(
        "core/budget/partner_search.py",
        "listed = wanted if literal else min(wanted + SPARE, n - 1)",
        "listed = wanted",
        "merging",
        "best_pair",
    ),
    Mutant(
        "core/budget/several.py",
        "        if mm <= nn:\n",
        "        if mm > nn:\n",
        "merging",
        "several",
    ),
    Mutant(
        "core/passes/gradient/norma.py",
        "y * f[0] < state.level",
        "y * f[0] <= state.level",
        "replay_family",
        "NORMA",
    ),
    Mutant(
        "core/passes/features/nystroem.py",
        "if both - 2.0 * model.row[j] <= SAME * both:",
        "if both - 2.0 * model.row[j] < 0.0:",
        "nystroem",
        "landmarks or nothing_comes",
    ),
    Mutant(
        "core/budget/projection.py",
        "        for j in range(p, i + 1):\n            w[j] = w[j + 1]",
        "        for j in range(p + 1, i + 1):\n            w[j] = w[j + 1]",
        "projection",
        "survives or orthogonal",
    ),
    Mutant(
        "core/passes/perceptrons/projectron.py",
        "return max(0.0, min(tau, 2.0 * rest / length))",
        "return min(tau, 2.0 * rest / length)",
        "replay_family",
        "Projectron",
    ),
    Mutant(
        "core/block/random_numbers.py",
        "* 2.0**-53\n\n\n@compiled\ndef below",
        "* 2.0**-52\n\n\n@compiled\ndef below",
        "numerics",
        "random",
    ),
    Mutant(
        "core/budget/removal.py",
        "return below(model, model.head.count - 1)",
        "return below(model, model.head.count)",
        "replay",
        "random and two_classes",
    ),
    Mutant(
        "core/expansion/other_kernels.py",
        "        if places[i] < 0:  # the model does not know it\n            for j in range(n):\n                row[j] += abs(x_i)",
        "        if places[i] < 0:  # the model does not know it\n            for j in range(1, n):\n                row[j] += abs(x_i)",
        "numerics",
        "unknown",
    ),
    Mutant(
        "core/examples/finite.py",
        "return norm < HUGE or is_finite(all_of(x))",
        "return norm < HUGE",
        "numerics errors properties",
        "finite or huge",
    ),
    Mutant(
        "core/passes/window/sbp.py",
        "return drawn if drawn < head.budget else -1",
        "return drawn if drawn < head.budget else 0",
        "sbp",
        "reservoir or stream or window",
    ),
    Mutant(
        "core/passes/window/sbp.py",
        "    state.positives -= labels[slot] > 0.0\n",
        "",
        "sbp",
        "bias or stream",
    ),
    Mutant(
        "core/expansion/support.py",
        "TIE = 1.0 + 1e-9",
        "TIE = 1.0",
        "replay projection merge",
        "smallest or Smallest",
    ),
    Mutant(
        "core/simd/argmin.py",
        "        return builder.and_(light, _in_range(builder, start, n))\n",
        "        return light\n",
        "least",
        "lightest or least or number",
    ),
    Mutant(
        "core/simd/argmin.py",
        "for lanes in (4, 2, 1):\n        best",
        "for lanes in (4, 2):\n        best",
        "least",
        "",
    ),
    Mutant(
        "core/simd/trigonometry.py",
        "LARGEST_ANGLE = 1.5e6",
        "LARGEST_ANGLE = 1.5e10",
        "numerics",
        "quarter",
    ),
    Mutant(
        "core/passes/window/water_levels.py",
        "room_v = room_above(v, n_v, covered, depth)",
        "room_v = room_u",
        "sbp",
        "level",
    ),
]
SHELLS = [
    Mutant(
        "algorithms/gradient/bogd.py",
        'self.removal_in_use != "random"',
        'removal != "random"',
        "errors replay_family",
        "BOGD",
    ),
    Mutant(
        "algorithms/gradient/bsgd.py",
        "state.norm2 = self.squared_length()",
        "state.norm2 = max(part.model.state_record().norm2 for part in parts)",
        "merge",
        "norm_is_that",
    ),
    Mutant(
        "algorithms/features/fogd.py",
        "            split(table[kind::rows])\n",
        "            pass\n",
        "fourier",
        "FOGD or fourier",
    ),
    Mutant(
        "algorithms/features/drawn.py",
        "self.draw(self.block, names, [features.places[name] for name in names])",
        "self.draw(self.block, names, range(len(names)))",
        "fourier",
        "emerging or order or regression_is_replayed",
    ),
    Mutant(
        "algorithms/features/nystroem.py",
        "if self.rank is not None and self.rank > budget:",
        "if self.rank is not None and self.rank >= budget:",
        "nystroem errors",
        "rank or parameter",
    ),
    Mutant(
        "algorithms/window/sbp.py", "max(state.seen, n)", "state.seen", "merge", "merged_window"
    ),
    Mutant(
        "algorithms/window/sbp.py",
        "if state.positives > count or min(counters) < 0:",
        "if min(counters) < 0:",
        "saving",
        "forged",
    ),
    Mutant(
        "algorithms/perceptrons/bpa.py",
        "(neighbours >= -1.0) & (neighbours < count)",
        "(neighbours >= -1.0) & (neighbours <= count)",
        "saving",
        "forged",
    ),
    Mutant(
        "kernels/known.py",
        "gamma = 0.5 / sigma / sigma",
        "gamma = 1.0 / sigma / sigma",
        "numerics",
        "width",
    ),
    Mutant(
        "parameters.py",
        "if not (_is_number(value) and 0 < value <= 1):",
        "if not (_is_number(value) and 0 < value < 1):",
        "errors one_class lifecycle",
        "share_may",
    ),
    Mutant(
        "parameters.py",
        "return result if math.isfinite(result) else None",
        "return result",
        "errors",
        "number or finite",
    ),
    Mutant(
        "model/base/base.py",
        "state[name] = math.nan if value is None else value",
        "state[name] = 0.0 if value is None else value",
        "replay_family",
        "Projectron",
    ),
    Mutant(
        "model/expansions/expansion.py",
        "return self.columns_for(max(FIRST_CAPACITY, count + 1))",
        "return self.columns_for(FIRST_CAPACITY)",
        "merge saving",
        "without_a_budget or no-budget or other_budget or adds_up or add_up",
    ),
    Mutant(
        "model/inputs/features.py",
        "[*self.places, *in_order(names)]",
        "[*self.places, *names]",
        "interface frames",
        "order or places or columns or frame",
    ),
    Mutant(
        "model/estimators/estimators.py",
        "        if not self.labels.known and targets.boolean:\n            self.add_label(True)\n",
        "",
        "frames",
        "boolean or batch or frame",
    ),
    Mutant(
        "model/estimators/estimators.py",
        "row = rows[start - first : start - first + 1]",
        "row = rows[:1]",
        "frames",
        "loop or label",
    ),
    Mutant(
        "model/inputs/targets.py",
        "if distinct < len(classes):",
        "if distinct < len(classes) - 1:",
        "errors interface",
        "classes",
    ),
    Mutant(
        "model/inputs/targets.py",
        "return self._table[(scores[:, 0] >= 0.0).astype(np.intp)]",
        "return self._table[(scores[:, 0] > 0.0).astype(np.intp)]",
        "frames interface",
        "zero or tie or batch or loop",
    ),
    Mutant(
        "uniting/agreement.py", "budget = max(limits)", "budget = min(limits)", "merge", "budget_is"
    ),
    Mutant(
        "uniting/expansions.py",
        'order = np.argsort(-np.concatenate(ages), kind="stable")',
        'order = np.argsort(np.concatenate(ages), kind="stable")',
        "merge",
        "newest or oldest",
    ),
    Mutant(
        "uniting/rivers.py",
        "between = share * (1.0 - share) * difference * difference",
        "between = share * difference * difference",
        "merge train_shards",
        "scalers or targets",
    ),
    Mutant(
        "saving/container.py",
        "if JSON_EXPANSION * length > max_bytes:",
        "if length > max_bytes:",
        "saving",
        "large or too or unfold",
    ),
    Mutant(
        "saving/nodes.py",
        "if len({name for name, _ in steps}) < len(steps):",
        "if not steps:",
        "saving",
        "pipeline or steps",
    ),
    Mutant(
        "saving/states.py",
        'if not TINY_SCALE <= fields["scale"] <= HUGE_SCALE:',
        'if not fields["scale"] <= HUGE_SCALE:',
        "saving",
        "forged",
    ),
    Mutant(
        "saving/source.py",
        "        self.room -= nbytes\n",
        "",
        "saving",
        "share_the_memory or too_large",
    ),
    Mutant(
        "distributed/keyed/keys.py",
        'return b"i%d" % int(key) if key.is_integer() else b"f" + REAL.pack(key)',
        'return b"f" + REAL.pack(key)',
        "keyed",
        "key",
    ),
    Mutant(
        "distributed/keyed/shard.py",
        "        if key in self.changed:\n            self._write(key, model)\n            self.changed.discard(key)\n",
        "        if key in self.changed:\n            self._write(key, model)\n",
        "keyed_files keyed",
        "disk or checkpoint",
    ),
    Mutant(
        "distributed/keyed/storage.py",
        "WHERE key = ? ORDER BY checkpoint DESC LIMIT 1",
        "WHERE key = ? ORDER BY checkpoint LIMIT 1",
        "keyed_files",
        "disk or checkpoint",
    ),
    Mutant(
        "distributed/sweeps/journal.py",
        "            os.fsync(file.fileno())\n",
        "",
        "sweep",
        "before_the_next",
    ),
    Mutant(
        "distributed/train/training.py",
        "            self.at = rows.stop\n",
        "            self.at = rows.stop + 1\n",
        "train_shards",
        "shard",
    ),
]
EARLIER = [
    Mutant(
        "algorithms/gradient/norma.py",
        "        self.state_record().level = sum(\n            part.weight * part.model.state_record().level for part in parts\n        )\n",
        "",
        "merge",
        "level_of",
    ),
    Mutant(
        "algorithms/perceptrons/forgetron.py",
        '("mistakes", "damage")',
        '("mistakes",)',
        "merge",
        "damage",
    ),
    Mutant(
        "uniting/expansions.py",
        "    if _explained(union, removed) > _explained(union, model):\n        model.block = removed.block\n",
        "",
        "merge",
        "steps_of_merging",
    ),
    Mutant(
        "model/expansions/expansion.py",
        "arity, head.arity = int(head.arity), 2",
        "arity = int(head.arity)",
        "merge",
        "no_more_vectors",
    ),
    Mutant(
        "saving/trust.py",
        "if len(np.unique(arrivals)) < count:",
        "if len(np.unique(arrivals)) < count - 1:",
        "saving",
        "at_once",
    ),
    Mutant(
        "algorithms/window/sbp.py",
        "(pulls >= 0.0) & (pulls <= LONGEST_STEP)",
        "pulls >= 0.0",
        "saving",
        "forged_arrays",
    ),
    Mutant(
        "model/inputs/frames.py",
        " or not seen.is_null().any():",
        " or True:",
        "frames",
        "missing_target",
    ),
    # pandas' own frames and series without narwhals
    Mutant(
        "model/inputs/frames.py",
        " and not np.isnan(values).any()\n",
        "\n",
        "frames",
        "targets_are_read",
    ),
    Mutant(
        "model/inputs/frames.py",
        "            if len(set(self.names)) == len(self.names):\n                return\n",
        "            return\n",
        "frames",
        "same_name",
    ),
    Mutant(
        "model/inputs/frames.py",
        ".Series(values, self.native.index, name=name)",
        ".Series(values, name=name)",
        "frames",
        "series_are_made",
    ),
    Mutant(
        "core/budget/projection.py",
        "    lost = keep_apart(model)\n    check_factor(model)\n",
        "    lost = keep_apart(model)\n",
        "repairs",
        "drifted",
    ),
    Mutant(
        "core/budget/projection.py",
        "    lost = keep_apart(model)\n    check_factor(model)\n",
        "    lost = 0.0\n    check_factor(model)\n",
        "projection",
        "makes_dependent",
    ),
    Mutant("saving/container.py", "    _sync(place.parent)\n", "", "saving", "forced"),
    Mutant(
        "saving/states.py",
        "if limit is not None and count > limit:",
        "if limit is not None and count > limit + 1:",
        "saving",
        "one_vector_more",
    ),
    Mutant(
        "distributed/keyed/coordinator.py",
        "        for client, seal in zip(self.clients, seals, strict=True):\n            client.answer(seal)\n        self.folder",
        "        self.folder",
        "keyed_files",
        "noted",
    ),
    Mutant(
        "model/expansions/expansion.py",
        "            self.resize_block(capacity=self.capacity_for(blocks.views(self.block).head.count))\n\n    def fit_budget",
        "\n    def fit_budget",
        "lifecycle",
        "takes_the_memory",
    ),
    Mutant(
        "core/passes/perceptrons/forgetron.py",
        "min(1.0, max(0.0, -2.0 * c / (b + math.sqrt(max(b * b - 4.0 * a * c, 0.0)))))",
        "min(1.0, -2.0 * c / (b + math.sqrt(max(b * b - 4.0 * a * c, 0.0))))",
        "family_laws",
        "no_bound",
    ),
    Mutant(
        "core/passes/auto/memory.py",
        "while places[n - 1] >= count:",
        "while False:",
        "auto_replay",
    ),
    Mutant(
        "core/passes/auto/scaling.py",
        "score = orientation * stored[j]",
        "score = stored[j]",
        "auto_replay auto",
        "heavy or knots",
    ),
    Mutant(
        "core/budget/partner_search.py",
        "search[S, unwritten] = ",
        "search[S, m] = ",
        "replay merging",
    ),
    Mutant(
        "core/passes/gradient/bsgd.py",
        "total += up * up + down * down",
        "total += up * up",
        "replay properties repairs",
    ),
    Mutant(
        "core/simd/vector_ops.py",
        'builder.fcmp_unordered("!=", load_eight',
        'builder.fcmp_ordered("!=", load_eight',
        "errors",
        "among_zeros",
    ),
]
# One or more for each sentence of the README that promises something: first about trust, then in its order.
PROMISES = [
    Mutant("saving/container.py", "    os.fsync(file.fileno())\n", "", "saving", "forced"),
    Mutant("saving/container.py", "    _sync(place.parent)\n", "    pass\n", "saving", "forced"),
    Mutant(
        "saving/container.py",
        "pathlib.Path(os.path.realpath(path))",
        "pathlib.Path(path)",
        "saving",
        "link_goes_on",
    ),
    Mutant(
        "saving/container.py",
        "os.chmod(file.fileno(), stat.S_IMODE(os.stat(place).st_mode))",
        "pass",
        "saving",
        "keeps_its_permissions",
    ),
    Mutant(
        "saving/container.py",
        "        with contextlib.suppress(OSError):\n            os.unlink(draft)\n        raise\n",
        "        raise\n",
        "saving",
        "old_file_survives or must_have_a_name or full_disk",
    ),
    Mutant(
        "saving/container.py",
        "        _lock(file)\n    number",
        "        pass\n    number",
        "saving",
        "between_two_steps",
    ),
    Mutant("saving/container.py", "            _lock(left)\n", "", "saving", "killed_saver"),
    Mutant(
        "saving/container.py",
        "                os.unlink(draft)\n    except",
        "                pass\n    except",
        "saving",
        "killed_saver",
    ),
    Mutant(
        "model/one_writer.py",
        "        while turn.taken:\n            turn.wait()\n",
        "",
        "threads",
        "second_thread",
    ),
    Mutant(
        "model/calls/one_by_one.py",
        '        """Learn one example, whose target has been checked and coded with these labels."""\n        turn = self.turn\n        while turn.taken:\n            turn.wait()\n',
        "        turn = self.turn\n",
        "threads",
        "second_thread",
    ),
    Mutant(
        "model/calls/one_by_one.py",
        "self._learn_the_long_way(x, target, w)\n        finally:\n            turn.thread = 0\n            turn.taken = False\n",
        "self._learn_the_long_way(x, target, w)\n        finally:\n            turn.thread = 0\n",
        "threads",
        "gives_the_turn_back",
    ),
    Mutant(
        "model/calls/one_by_one.py",
        "target, w, True)\n        finally:\n            turn.taken = False\n",
        "target, w, True)\n        finally:\n            pass\n",
        "fast_path",
        "in_one_go",
    ),
    Mutant(
        "model/base/copying.py",
        '{"block": block, "fast_path": FastPath(), **own}',
        '{"block": block, **own}',
        "fast_path",
        "original_does_not",
    ),
    # what compiled code reads by itself
    Mutant(
        "core/examples/dict_reader.py",
        "if entry.key != expected[i]:",
        "if entry.key != expected[i] and i < 0:",
        "fast_path",
        "in_one_go",
    ),
    Mutant(
        "core/examples/one_example.py",
        "            names_at[place] = strangers[i]\n",
        "",
        "sparse",
        "memory_follows",
    ),
    Mutant(
        "core/examples/dict_reader.py",
        "return rest ^ np.uint32(0xFFFFFFFF)",
        "return rest",
        "fast_path",
        "whatever",
    ),
    Mutant(
        "model/calls/batch_passes.py",
        "stop = min(done + EXAMPLES_PER_CALL, len(rows))",
        "stop = len(rows)",
        "threads",
        "ctrl_c",
    ),
    Mutant(
        "model/estimators/estimators.py",
        "twin, before = self.twin(), self.n_outputs",
        "twin, before = self, self.n_outputs",
        "threads",
        "third_class",
    ),
    Mutant(
        "model/base/copying.py",
        "return self.block is None or blocks.stamp_in(self.block) == self.stamp()",
        "return True",
        "pickles contracts",
        "another_layout or stamp",
    ),
    Mutant(
        "core/block/blocks.py",
        "repr((HEADER.descr, STATE_AT, STATE_SIZE, shapes, records))",
        "repr((STATE_AT, STATE_SIZE, records))",
        "pickles",
        "another_layout",
    ),
    Mutant(
        "core/block/limits.py", "CANCELS = 1e4", "CANCELS = 1e40", "offsets", "digits or threshold"
    ),
    Mutant(
        "core/passes/auto/binning.py",
        "square, last = mean_square(errors, columns)",
        "square, last = mean_square(errors, 1)",
        "auto_replay",
    ),
    Mutant(
        "core/passes/auto/linear_models.py",
        "root = math.sqrt(factor * grows)",
        "root = math.sqrt(factor)",
        "auto_replay",
    ),
    Mutant(
        "core/passes/auto/metric.py",
        "[columns - 1] -= scores[c]",
        "[columns - 1] += 0.0",
        "auto_replay",
    ),
    Mutant(
        "core/passes/auto/scaling.py",
        "most >= 0.5 * n - 2.0",
        "most >= 0.9 * n",
        "auto_replay auto",
    ),
    Mutant(
        "algorithms/auto/tables.py",
        "target[..., SUM] = source[..., SUM]",
        "pass",
        "auto_replay",
    ),
    Mutant(
        "core/simd/table_sums.py",
        "// ROWS_TOGETHER * ROWS_TOGETHER, results",
        "// 1, results",
        "row_sums",
    ),
    Mutant(
        "core/expansion/products_ahead.py",
        " or (model.head.kernel == RBF and cancels(model, norm))",
        "",
        "scoring",
        "lengths",
    ),
    Mutant(
        "core/rounds/stream_warnings.py",
        "head.judged <= EXAMPLES_OF_ONE_CLASS",
        "head.judged < EXAMPLES_OF_ONE_CLASS",
        "advice",
        "one_class",
    ),
    Mutant(
        "model/stream_warnings.py",
        "head.alarm, head.said = 0, head.said | due",
        "head.alarm = 0",
        "advice",
        "once",
    ),
    Mutant(
        "algorithms/features/nystroem.py",
        "                self._learn_basis()\n            self.resize_block()\n",
        "                pass\n            self.resize_block()\n",
        "fuzz",
        "smaller_rank",
    ),
    Mutant(
        "model/inputs/targets.py",
        "if isinstance(label, numbers.Number):",
        "if True:",
        "fuzz",
        "tuples",
    ),
    Mutant(
        "distributed/keyed/storage.py",
        "        if gone:",
        "        if False:",
        "keyed_trouble",
        "damaged_checkpoint",
    ),
    # Many examples give exactly what a loop over single ones gives.
    Mutant(
        "model/estimators/estimators.py",
        "codes[:count], all_weights[start:stop]",
        "codes[:count], all_weights[:count]",
        "frames",
        "weights",
    ),
    Mutant(
        "model/calls/calls.py",
        "addresses[place] = first + start * step",
        "addresses[place] = first + (start and start - 1) * step",
        "threads",
        "ctrl_c_in_a_batch",
    ),
    # Calls with few rows follow each other in workspaces
    Mutant(
        "model/calls/calls.py",
        "        if needed > self.size:",
        "        if self.size < 0:",
        "bounds",
        "one_workspace or too_small",
    ),
    Mutant(
        "model/calls/calls.py",
        "            self.space[: layout.WIPED_BYTES] = 0\n",
        "            pass\n",
        "frames bounds",
        "AutoKernel or one_workspace",
    ),
    Mutant(
        "model/calls/calls.py",
        "kept.longest >= longest\n            and kept.n_examples",
        "kept.n_examples",
        "bounds",
        "one_workspace",
    ),
    Mutant(
        "model/calls/calls.py",
        "            self.block = None\n            _idle",
        "            _idle",
        "bounds",
        "one_workspace",
    ),
    # and numba is asked for less
    # functions that passes share: where they are needed, and nowhere else
    Mutant(
        "core/block/blocks.py",
        "_LISTS * listed",
        "_LISTS * (not listed)",
        "by_address",
        "moment",
    ),
    Mutant(
        "core/block/blocks.py",
        "& ~_OF_BLOCKS\n",
        "\n",
        "by_address",
        "moment",
    ),
    Mutant(
        "core/compiling/by_address.py",
        "            ready |= int(need)\n",
        "        ready |= int(need)\n",
        "by_address",
        "nothing_else",
    ),
    Mutant(
        "core/vectors/table.py",
        "    note_change(model, j)\n    if places",
        "    if places",
        "coming",
    ),
    Mutant("core/vectors/table.py", "    note_change(model, target)\n", "", "coming"),
    Mutant(
        "core/block/blocks.py",
        "    if not needs & _AUTO:  # AutoKernel",
        "    if needs & _KERNEL:  # AutoKernel",
        "by_address",
        "not_ready",
    ),
    Mutant(
        "model/inputs/targets.py",
        "[False, True] if both else",
        "[label] if both else",
        "lifecycle",
    ),
    Mutant(
        "saving/states.py",
        "    model.labels = labels.with_known(names)\n",
        "    labels.known = names\n",
        "saving",
    ),
    Mutant("core/expansion/products_ahead.py", "changed > CHANGES or ", "", "coming"),
    Mutant("core/vectors/stored.py", "== 0 and model.head.heavy == 0", "== 0", "coming"),
    Mutant(
        "core/expansion/products_ahead.py",
        "N_CHANGES] = t, t + TOGETHER, 0",
        "UNTIL] = t, t + TOGETHER, t + TOGETHER",
        "coming",
    ),
    Mutant(
        "core/block/written_vectors.py",
        "coming[UNTIL], coming[LISTED_UNTIL]",
        "coming[FIRST], coming[LISTED_UNTIL]",
        "coming",
    ),
    Mutant(
        "model/calls/batch_passes.py",
        "len(rows) >= MANY_EXAMPLES",
        "len(rows) > 0",
        "by_address",
        "many_examples",
    ),
    Mutant(
        "core/expansion/scoring.py",
        "            score_row(model, model.row, scores_of(stream, t + k))\n        t += TOGETHER\n",
        "            score_row(model, model.row, scores_of(stream, t))\n        t += TOGETHER\n",
        "by_address",
        "together",
    ),
    Mutant(
        "first_use.py",
        "self.slow - self.spent",
        "self.slow",
        "first_use",
        "many_quick",
    ),
    # predict_then_learn_many: the predictions made before each example was learned
    Mutant(
        "model/calls/batch_passes.py",
        "            self.run_pass(rows, targets[some], weights[some], scores[some])\n",
        "            self.run_pass(rows, targets[some], weights[some], scores[some])\n            scores[some] = self._score_rows(rows)\n",
        "frames",
        "progressive",
    ),
    Mutant(
        "model/estimators/estimators.py",
        "predictions += [known] if guess is None else [guess, known[1:]]",
        "predictions += [known]",
        "frames",
        "progressive",
    ),
    # and for pipelines what the methods of that name do for models
    Mutant(
        "pipelines.py",
        "return _last(model).decision_function_one(_before_last(model, x))",
        "return _last(model).decision_function_one(x)",
        "pipelines",
        "memory_of_a_pipeline",
    ),
    Mutant(
        "pipelines.py",
        "return sum(memory_usage(step) for step in model.steps.values())",
        "return int(model._raw_memory_usage)",
        "pipelines",
        "memory",
    ),
    # Features may appear and vanish; an absent one counts as 0.
    Mutant(
        "model/inputs/batches.py",
        "        rows = np.zeros((len(self), len(places)))",
        "        rows = np.ones((len(self), len(places)))",
        "frames",
        "come_go",
    ),
    Mutant(
        "model/inputs/features.py",
        "row = list(map(x.get, self.places, itertools.repeat(0.0)))",
        "row = list(map(x.get, self.places, itertools.repeat(1.0)))",
        "kernels interface",
        "custom or never_learned or missing_feature",
    ),
    # Labels may be anything, but the two of a binary model are best given; the third makes it a multi-class one
    Mutant(
        "model/inputs/targets.py",
        "dict(zip(self.known, (-1.0, 1.0), strict=False))",
        "dict(zip(self.known, (1.0, -1.0), strict=False))",
        "interface",
        "positive",
    ),
    Mutant(
        "model/estimators/estimators.py",
        "        if before == 1:\n            split(model.coefficients)\n",
        "        if before == 1:\n",
        "interface",
        "third",
    ),
    # Weights scale the step.
    Mutant(
        "model/estimators/estimators.py",
        "        self._learn_row(x, target, 1.0 if w == 1.0 else weight(w))\n",
        "        self._learn_row(x, target, 1.0)\n",
        "interface",
        "weight",
    ),
    # mutate shrinks a model at once; all else refuses to change
    Mutant(
        "model/expansions/expansion.py",
        "        Call(self.block).run(self.shrinking_pass)\n",
        "        pass\n",
        "lifecycle",
        "at_once",
    ),
    Mutant(
        "model/base/base.py",
        "if known and name in kind.parameters()",
        "if False and name in kind.parameters()",
        "lifecycle",
        "assignment",
    ),
    # Probabilities are calibrated; predictions do not depend on them
    Mutant(
        "model/inputs/targets.py",
        "logits = slope * behind",
        "logits = 1.0 * behind",
        "calibration",
        "seven or replays or any_size",
    ),
    Mutant(
        "core/rounds/calibration.py",
        "head.judged += 1",
        "head.judged += 1\n    head.scale *= 1.0 + 1e-9",
        "replay",
        "two_classes",
    ),
    # pickle and deepcopy go on exactly where they were
    Mutant(
        "model/base/copying.py",
        'own = {"free_rows": FreeRows(), "free_lists": FreeRows(), "turn": Turn()}',
        'own = {"turn": Turn()}',
        "lifecycle",
        "learn_apart or shallow",
    ),
    Mutant(
        "model/inputs/features.py",
        "            return list(self.places), self._scales, places, self.width",
        "            return list(self.places), self._scales, places, self.width + 1",
        "sparse fuzz",
        "go_on_exactly or short_run",
    ),
    # rb.save and rb.load: a file without code, checked when it is read, for all versions, for River's pipelines
    Mutant(
        "saving/envelope.py",
        "        if digest != written:",
        "        if False:",
        "saving",
        "damage",
    ),
    Mutant(
        "saving/envelope.py",
        'if fields["format"] > self.format:',
        "if False:",
        "saving",
        "later or damage or version",
    ),
    Mutant(
        "saving/container.py",
        "        if status.st_size > max_bytes:",
        "        if False:",
        "saving",
        "large or max_bytes",
    ),
    Mutant(
        "saving/rivers.py",
        "scaler.counts[name], scaler.means[name], scaler.vars[name] = count, mean, var",
        "scaler.counts[name], scaler.means[name], scaler.vars[name] = count, mean, mean",
        "saving_rivers",
        "comes_back",
    ),
    Mutant(
        "saving/frozen.py",
        "    return [*marked, ",
        "    return [",
        "saving",
        "only_predicts",
    ),
    # rb.merge: their weighted sum
    Mutant(
        "uniting/expansions.py",
        "            table += part.weight * united.reshape(table.shape)",
        "            table += united.reshape(table.shape)",
        "merge",
        "waves",
    ),
    Mutant("uniting/__init__.py", "return [1.0 / n] * n", "return [1.0] * n", "merge", ""),
    # KeyedModels, sweep: the same results to the bit
    Mutant(
        "distributed/keyed/keys.py",
        "return zlib.crc32(key) % shards",
        "return hash(key) % shards",
        "keyed",
        "same_shard",
    ),
    Mutant(
        "distributed/sweeps/sweep.py",
        "pick = max if self._metric.bigger_is_better else min",
        "pick = max",
        "sweep",
        "best",
    ),
    # the folder of a cluster is removed when this process is killed
    Mutant(
        "distributed/workers/cluster.py",
        "    _Cluster.remover = _remover(_Cluster.folder)\n",
        "",
        "backends",
        "outlives_the_program",
    ),
    Mutant(
        "distributed/workers/ray.py",
        "        if version == __version__:",
        "        if True:",
        "backends",
        "another_version",
    ),
    Mutant(
        "distributed/keyed/keys.py",
        "if type(key) is float and key == key:",
        "if type(key) is float:",
        "keyed keyed_trouble",
        "no_key or odd",
    ),
    # Bad input that is to be learned raises an error that names the feature; in prediction it counts as absent
    Mutant(
        "model/inputs/features.py",
        "            good = math.isfinite(math.fsum(x.values()))",
        "            good = math.isfinite(sum(x.values()))",
        "fuzz",
        "no_name_behind",
    ),
    Mutant(
        "model/inputs/features.py",
        "    if value is None or type(value).__name__ ==",
        "    if type(value).__name__ ==",
        "errors",
        "missing",
    ),
    Mutant(
        "model/inputs/batches.py",
        'raise ValueError("an array of examples must hold a number everywhere',
        'if False: raise ValueError("an array of examples must hold a number everywhere',
        "errors",
        "masked",
    ),
    Mutant(
        "model/inputs/batches.py",
        "        X.check_format(full_check=True)",
        "        pass",
        "fuzz",
        "places_are_wrong",
    ),
    Mutant(
        "model/base/copying.py",
        "            self.adopt(before)\n            batch.check()\n",
        "            batch.check()\n",
        "errors",
        "large_batch",
    ),
    Mutant(
        "model/calls/batch_passes.py",
        "if done == len(rows) or batch.checked:",
        "if batch is not None:",
        "errors",
        "to_be_predicted",
    ),
    Mutant(
        "model/inputs/batches.py",
        "plain = np.asarray(values)",
        "plain = values",
        "fuzz",
        "subclass",
    ),
    # A misspelt argument is an error too.
    Mutant(
        "model/estimators/estimators.py",
        "def predict_one(self, x: dict[Any, Any]) -> float:",
        "def predict_one(self, x: dict[Any, Any], **named: Any) -> float:",
        "errors",
        "misspelt",
    ),
    # model.summary() and rb.summary(pipeline) say in what state they are
    Mutant(
        "model/base/summary.py",
        'found["memory"] = _bytes(model.memory_usage)',
        'found["memory"] = ""',
        "summary",
        "",
    ),
    Mutant(
        "model/base/summary.py",
        "int(blocks.views(self.block).head.judged)",
        "int(blocks.views(self.block).head.count)",
        "summary",
        "",
    ),
    # rb.plots draws mistakes, budgets, decisions, error against time or memory
    Mutant(
        "plots/probabilities.py",
        "np.minimum((sure * bins).astype(int), bins - 1)",
        "np.minimum((sure * sure * bins).astype(int), bins - 1)",
        "plots",
        "",
    ),
    # One thread changes a model while others predict
    Mutant(
        "model/estimators/estimators.py",
        "self._learn_row(x, target, 1.0 if w == 1.0 else weight(w), labels)",
        "self._learn_row(x, target, 1.0 if w == 1.0 else weight(w), self.labels)",
        "threads",
        "old_code",
    ),
    Mutant(
        "model/base/copying.py",
        "        before = dict(self.__dict__)\n",
        "        before = None\n",
        "threads",
        "looks_on",
    ),
    # A table is not laid out anew for every name, and taken up again when no more names come
    Mutant(
        "model/expansions/choose_storage.py",
        "        few = n > THIN_RATIO * len(beside)",
        "        few = False",
        "sparse",
        "laid_out_anew",
    ),
    Mutant(
        "model/expansions/choose_storage.py",
        "            if not met:",
        "            if True:",
        "sparse",
        "ceased_to_come",
    ),
    Mutant(
        "core/examples/one_example.py",
        "    entry.met += entry.new if found else 0\n",
        "",
        "sparse",
        "ceased_to_come",
    ),
    Mutant(
        "core/examples/one_example.py",
        "return looks or entry.new",
        "return entry.new",
        "sparse",
        "ceased_to_come",
    ),
    # A model warns once of features without a scaler, of one class, of targets far from one, and of divergence
    Mutant(
        "core/rounds/stream_warnings.py",
        "if head.vanished < FAR_IN_A_ROW:",
        "if head.vanished < 1000 * FAR_IN_A_ROW:",
        "advice",
        "without_a_scale",
    ),
    Mutant(
        "core/rounds/stream_warnings.py",
        "if head.judged == EXAMPLES_BEFORE_JUDGING and not usual:",
        "if head.judged == EXAMPLES_BEFORE_JUDGING and usual:",
        "advice",
        "far_from_one",
    ),
    Mutant(
        "core/rounds/stream_warnings.py",
        "head.error_size > DIVERGED_TIMES * head.target_size",
        "head.error_size < DIVERGED_TIMES * head.target_size < 0.0",
        "advice",
        "diverges",
    ),
    # rb.export.onnx writes models with their scalers
    Mutant(
        "export/expansions.py",
        "alpha=2.0, beta=-1.0)",
        "alpha=2.0, beta=-1.000001)",
        "export",
        "same_scores",
    ),
    Mutant(
        "export/outputs.py",
        'graph.output("probabilities", found.probabilities,',
        'graph.output("probabilities", found.scores,',
        "export",
        "same_scores or labels",
    ),
    # rb.sklearn makes them estimators of scikit-learn
    Mutant(
        "sklearn/common.py",
        "        for _ in range(self.epochs):",
        "        for _ in range(1):",
        "sklearn",
        "epochs",
    ),
    Mutant("sklearn/common.py", "random.shuffle(order)", "order.sort()", "sklearn", "orders"),
    # rb.Guard("skip") keeps such rows out
    Mutant(
        "guard.py", '        if self.on_bad != "skip":', "        if True:", "pipelines", "skips"
    ),
    Mutant(
        "guard.py",
        '            elif self.on_bad == "raise":\n                self._refuse(name, value)\n            elif name in',
        "            elif name in",
        "pipelines",
        "guard",
    ),
    Mutant(
        "guard.py",
        '            elif self.on_bad == "raise":\n                self._refuse(name, value)\n            elif self.on_bad == "skip":',
        '            elif self.on_bad == "skip":',
        "pipelines",
        "guard",
    ),
    # Words without end: what removes forgets the words of what leaves
    Mutant(
        "model/inputs/features.py",
        "        used = ~unused[places]\n",
        "        used = unused[places] | True\n",
        "sparse",
        "memory_follows or change_no_score",
    ),
    Mutant(
        "core/vectors/sparse_nodes.py",
        "    columns[feature].count = count\n    model.head.freed += 1\n",
        "    columns[feature].count = count\n",
        "sparse",
        "consistent",
    ),
    # heavy vectors: what is followed is what is there
    Mutant(
        "core/vectors/sparse_nodes.py",
        "        wanted += max(needs[kind] - pieces[1, kind], 0) * nodes_in_piece(kind)\n",
        "        wanted += 0\n",
        "sparse",
        "share_their_memory",
    ),
    Mutant(
        "core/vectors/sparse_nodes.py",
        "        _free_piece(model, node + nodes_in_piece(found), found)\n    return node",
        "        pass\n    return node",
        "sparse",
        "enough_for",
    ),
    Mutant(
        "core/vectors/sparse_nodes.py",
        "        nodes[after].before = target\n",
        "        pass\n",
        "sparse",
        "consistent",
    ),
    Mutant(
        "core/budget/long_vectors.py",
        "    norm = -inner_term(shares, s) / model.head.gamma\n",
        "    norm = 0.0\n",
        "heavy",
        "is_true",
    ),
    Mutant(
        "core/budget/long_vectors.py",
        "    constant = -inner_term(shares, s)\n",
        "    constant = 0.0\n",
        "heavy",
        "is_true",
    ),
    Mutant(
        "core/budget/long_vectors.py",
        "            set_distance(model, p, j, model.distances[last, j])\n",
        "            pass\n",
        "heavy",
        "is_true or anew",
    ),
    Mutant(
        "core/budget/long_vectors.py",
        "0.0 <= share <= LARGEST_SHARE",
        "0.0 <= share <= 1.0",
        "heavy",
        "beyond",
    ),
    Mutant(
        "core/budget/long_vectors.py",
        "if strain > LARGEST_STRAIN or not exact:",
        "if not exact:",
        "heavy",
        "beyond",
    ),
    Mutant(
        "core/budget/long_vectors.py",
        "place = p if was_last else place",
        "place = place + 0",
        "heavy",
        "shrinks",
    ),
    Mutant(
        "core/budget/long_vectors.py",
        "    return max(strain, 1.0)\n",
        "    return 1.0\n",
        "heavy",
        "beyond",
    ),
    Mutant(
        "core/budget/long_vectors.py",
        "strain += abs(shares[i]) * model.strains[members[i]]",
        "strain = max(strain, abs(shares[i]) * model.strains[members[i]])",
        "heavy",
        "strain_of",
    ),
    # memory that is asked for, or kept free
    Mutant(
        "core/block/blocks.py",
        " or end > len(whole):",
        ":",
        "ahead",
        "as_far_as",
    ),
    Mutant(
        "core/block/blocks.py",
        "    copy = _zeros_for_block(len(block)",
        "    return block\n    copy = _zeros_for_block(len(block)",
        "ahead",
        "where_they_are",
    ),
    Mutant(
        "core/vectors/sparse_nodes.py",
        "    model.unsorted[j] += 1\n",
        "",
        "heavy",
        "same_bits or is_true",
    ),
    Mutant(
        "model/expansions/choose_storage.py",
        "model.multipliers[:], model.strains[:] = 1.0, 1.0",
        "model.strains[:] = 1.0",
        "heavy",
        "anew",
    ),
    Mutant(
        "core/vectors/multiples.py",
        "            vectors[brief[i], j] = 0.0\n",
        "            pass\n",
        "heavy",
        "same_bits",
    ),
    # a budget fixes how many; constant memory
    Mutant(
        "core/budget/keep.py",
        "while head.count > head.budget:",
        "while head.count > head.budget + 1:",
        "interface lifecycle",
        "budget",
    ),
    # "2/d": d counts the features of the first example
    Mutant(
        "kernels/base.py",
        "return _multiple(gamma) / max(n_features, 1)",
        "return _multiple(gamma) / max(n_features + 1, 1)",
        "interface",
        "gamma_auto",
    ),
    # On x86, results do not depend on how wide the processor's vectors are.
    Mutant(
        "core/expansion/kernel_rows.py",
        '@compiled(always_inlined=True)\ndef score_row(model, row, scores):\n    """scores[r] = f_r(x), from the kernel row of x."""\n    n, scale = padded_count(model), model.head.scale\n    for r in range(scores.shape[0]):\n        scores[r] = scale * dot(row, model.coefficients[r], n)\n',
        "@compiled(fastmath=REORDERED, always_inlined=True)\ndef score_row(model, row, scores):\n    n, scale = padded_count(model), model.head.scale\n    for r in range(scores.shape[0]):\n        total = 0.0\n        for j in range(n):\n            total += row[j] * model.coefficients[r, j]\n        scores[r] = scale * total\n",
        "processors",
        "same_bits",
    ),
    Mutant(
        "core/simd/vector_ops.py",
        "builder.fadd(lanes[i], lanes[half + i])",
        "builder.fadd(lanes[2 * i], lanes[2 * i + 1])",
        "processors",
        "stated_order",
    ),
    # Where numba finds no folder to write to, a warning says so
    Mutant(
        "core/compiling/cache.py",
        "    warnings.warn(\n",
        "    (lambda *words, **named: None)(\n",
        "start",
        "without_a_home",
    ),
    Mutant(
        "core/compiling/cache.py",
        "        except Exception:  # a damaged",
        "        except KeyError:  # a damaged",
        "start",
        "damaged_cache",
    ),
    # The first call of an algorithm compiles it
    Mutant(
        "first_use.py", "self.said or Progress.drawing", "self.said", "first_use", "beside_a_bar"
    ),
    # a detector: a threshold below which a share nu of the stream lies
    Mutant(
        "algorithms/gradient/one_class.py",
        "np.where(outside > 0.0, 1.0 - 0.5 * f / rho,",
        "np.where(outside > 0.0, 1.0 - f / rho,",
        "one_class",
        "",
    ),
    # The data are looked for in the folder RIVER_BUDGET_DATA and otherwise downloaded
    Mutant(
        "datasets/fetching.py",
        'VARIABLE = "RIVER_BUDGET_DATA"',
        'VARIABLE = "RIVER_BUDGET_FILES"',
        "datasets",
        "mirror",
    ),
    Mutant(
        "core/budget/degradation.py",
        "FLAT, TO_COME = 1e-8, 1e-11",
        "FLAT, TO_COME = 1e-8, 1e-2",
        "merging replay",
    ),
    Mutant(
        "core/budget/merge.py",
        "if model.head.objective == EQ21 else loss",
        "if model.head.objective != EQ21 else loss",
        "merging replay",
    ),
    Mutant(
        "core/examples/present_features.py",
        "if n == row.shape[0] and model.head.shuffled == 0:",
        "if n == row.shape[0]:",
        "fourier",
        "another_order",
    ),
    Mutant(
        "core/block/blocks.py",
        "*map(int, _sizes_in(h))",
        "*_sizes_in(h)",
        "saving",
        "as_it_would",
    ),
    # models in float32
    Mutant(
        "core/vectors/table32.py",
        "return F(value) if abs(value) >= SMALLEST_STORED else ZERO32",
        "return F(value)",
        "narrow",
        "any_size",
    ),
    Mutant(
        "core/vectors/table32.py",
        "    value = value if value < LARGEST_STORED else LARGEST_STORED\n",
        "",
        "narrow",
        "any_size",
    ),
    Mutant(
        "core/vectors/table32.py",
        "    note_change(model, j)\n",
        "",
        "narrow",
        "to_the_bit",
    ),
    Mutant(
        "core/vectors/table32.py",
        "    note_change(model, target)\n",
        "",
        "coming",
        "float32",
    ),
    Mutant(
        "core/block/limits.py",
        "head.gamma * norm > CANCELS_NARROW or norm > LARGEST_NARROW_NORM",
        "head.gamma * norm > CANCELS or norm > LARGEST_NARROW_NORM",
        "narrow",
        "origin",
    ),
    Mutant(
        "core/block/limits.py",
        " or norm > LARGEST_NARROW_NORM",
        "",
        "narrow",
        "any_size",
    ),
    Mutant(
        "core/vectors/table32.py",
        "    model.norms[j] = round_into(model.whole, values)\n",
        "",
        "merge saving",
        "float32",
    ),
    Mutant(
        "core/vectors/stored.py",
        "is_wanted and model.head.narrow == 0",
        "is_wanted",
        "narrow",
        "heavy",
    ),
    Mutant(
        "core/vectors/stored.py",
        "        table32.round_in_place(model.whole)\n",
        "",
        "narrow",
        "origin",
    ),
    Mutant(
        "core/vectors/table32_products.py",
        "_rounded_example(model, (x[0], x[1] + 8 * k * x[2], x[2], x[3], x[4]), k)",
        "_rounded_example(model, (x[0], x[1] + 8 * k * x[2], x[2], x[3], x[4]), 1)",
        "narrow",
        "to_the_bit",
    ),
    Mutant(
        "core/vectors/table32_products.py",
        "if model.head.maintenance != MERGE:",
        "if model.head.maintenance == MERGE:",
        "narrow",
        "merging_step",
    ),
    Mutant(
        "core/vectors/table32_products.py",
        "SMALLEST_POWER = -126.0  #",
        "SMALLEST_POWER = -127.0  #",
        "narrow",
        "denormal",
    ),
    Mutant(
        "core/block/blocks.py",
        "in_a_line = 16 if narrow else 8",
        "in_a_line = 8",
        "narrow",
    ),
    Mutant(
        "core/vectors/table32_products.py",
        "if not model.head.gamma * norm <= CANCELS:",
        "if not model.head.gamma * norm <= 1e300:",
        "narrow",
        "far_away",
    ),
    Mutant(
        "core/vectors/table32_products.py",
        "if x[2] == x[4] else NO_NORM",
        "if x[2] >= 0 else NO_NORM",
        "narrow",
        "strangers",
    ),
    Mutant(
        "model/expansions/choose_storage.py",
        "        if thin and self.narrow:\n",
        "        if thin and not thin:\n",
        "narrow",
        "without_end",
    ),
    Mutant(
        "model/expansions/choose_storage.py",
        "        if self.narrow:\n            return THIN_RATIO, layout.UNLIMITED\n",
        "",
        "narrow",
        "thin",
    ),
    Mutant(
        "model/expansions/choose_storage.py",
        "if not thin or self.narrow:",
        "if not thin:",
        "narrow",
        "thin",
    ),
    Mutant(
        "uniting/expansions.py",
        "may_be_thin = result.takes_lists and not result.narrow",
        "may_be_thin = result.takes_lists",
        "narrow",
        "thin",
    ),
    Mutant(
        "saving/states.py",
        "if table.dtype == np.float32 and (np.abs(array) > LARGEST_STORED).any():",
        "if table.dtype == np.float64 and (np.abs(array) > LARGEST_STORED).any():",
        "narrow",
        "forged",
    ),
]

MUTANTS = CORE + SHELLS + EARLIER + PROMISES


def changed(text, mutant):
    """The text of the file with the mutant in it, or None if it no longer applies."""
    if text.count(mutant.old) != 1:
        return None
    return text.replace(mutant.old, mutant.new)


def applies(mutant):
    file = ROOT / "river_budget" / mutant.file
    return file.exists() and changed(file.read_text(), mutant) is not None


def files_of(mutant):
    """The test files that it names, from the root."""
    found = {path.stem: str(path.relative_to(ROOT)) for path in TESTS.rglob("test_*.py")}
    return [found[f"test_{name}"] for name in mutant.tests.split()]


class Worker:
    """A copy of the package and the tests, and a cache for it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.copy = self.folder / "copy"
        self.copy.mkdir(parents=True)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__", ".hypothesis")
                shutil.copytree(source, self.copy / name, ignore=ignored)
            elif source.exists():
                shutil.copy(source, self.copy / name)

    def pytest(self, patience, *arguments):
        """(whether something failed, the first failure) of a run that stops there."""
        environment = os.environ | {
            "NUMBA_CACHE_DIR": str(self.folder / "cache"),
            "PYTHONPATH": str(self.copy),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        options = ["-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider"]
        command = [sys.executable, "-m", "pytest", *options, *arguments]
        try:
            done = subprocess.run(
                command,
                cwd=self.copy,
                env=environment,
                capture_output=True,
                text=True,
                timeout=patience,
            )
        except subprocess.TimeoutExpired:
            return True, "a test that hangs"
        failures = [x for x in done.stdout.splitlines() if x.startswith(("FAILED", "ERROR"))]
        if failures:
            return True, failures[0].partition(" ")[2].partition(" - ")[0]
        if done.returncode < 0 or done.returncode == 2:
            return True, f"a crash (return code {done.returncode})"
        return done.returncode == 1, "?"  # 5: no tests were chosen

    def judge(self, mutant, rest):
        """(killed, by what) of one mutant."""
        file = self.copy / "river_budget" / mutant.file
        before = file.read_text()
        file.write_text(changed(before, mutant))
        first = files_of(mutant)
        try:
            killed, by = self.pytest(
                PATIENCE, *first, *(["-k", mutant.only, "-m", ""] if mutant.only else [])
            )
            if not killed and rest:
                killed, by = self.pytest(PATIENCE, *first)
            if not killed and rest:
                left_out = [f"--ignore={name}" for name in first]
                killed, by = self.pytest(3 * PATIENCE, "tests", *left_out)
        finally:
            file.write_text(before)
            shutil.rmtree(self.folder / "cache", ignore_errors=True) if mutant in CORE else None
        return killed, by


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", type=int, nargs="*", help="numbers of mutants")
    parser.add_argument("--from-earlier", action="store_true", help="also those of EARLIER")
    parser.add_argument("--rest", action="store_true", help="the rest of the quick tests as well")
    parser.add_argument("--list", action="store_true", help="only say which mutants apply")
    parser.add_argument("--none", action="store_true", help="no mutant: the tests must pass")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(arguments)
    numbers = options.only
    if numbers is None:
        numbers = range(len(MUTANTS) if options.from_earlier else len(CORE + SHELLS))
    chosen = []
    for number in numbers:
        if applies(MUTANTS[number]):
            chosen.append(number)
        else:
            print(f"{number:3} DOES NOT APPLY ANY MORE: {describe(MUTANTS[number])}", flush=True)
    if options.list:
        for number in chosen:
            print(f"{number:3} {describe(MUTANTS[number])}")
        return
    if options.none:
        files = sorted({file for mutant in MUTANTS for file in files_of(mutant)})
        with tempfile.TemporaryDirectory() as folder:
            print(Worker(folder).pytest(3 * PATIENCE, *files))
        return
    alive = run(chosen, options)
    print(f"{len(chosen) - len(alive)} of {len(chosen)} killed; alive: {alive or 'none'}")


def describe(mutant):
    old, new = (" ".join(text.split()) or "(nothing)" for text in (mutant.old, mutant.new))
    return f"{mutant.file}: {old}  ->  {new}"


def run(numbers, options):
    """The numbers of those alive."""
    alive, workers = [], queue.Queue()

    def one(number):
        worker, start = workers.get(), time.perf_counter()
        try:
            killed, by = worker.judge(MUTANTS[number], options.rest)
        finally:
            workers.put(worker)
        took = time.perf_counter() - start
        word = f"killed by {by}" if killed else "ALIVE"
        print(f"{number:3} {took:4.0f} s {describe(MUTANTS[number])}\n         {word}", flush=True)
        return number if not killed else None

    with tempfile.TemporaryDirectory() as folder:
        for place in range(options.workers):
            workers.put(Worker(pathlib.Path(folder) / str(place)))
        with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
            alive = [number for number in pool.map(one, numbers) if number is not None]
    return alive


if __name__ == "__main__":
    main()
