"""The datasets: what they hold, how their files are found, fetched and read. Nothing here uses a
network.
"""

from __future__ import annotations

import bz2
import collections
import gzip
import hashlib
import io
import lzma
import pathlib
import re
import urllib.error
import urllib.request
import warnings
import zipfile

import numpy as np
import pytest
from conftest import DATA, needs_data
from optional import sklearn_datasets
from river.datasets import base
from scipy import io as matlab

from river_budget import datasets
from river_budget.datasets import fetching, preparing, reading
from river_budget.datasets.definitions import Definition, File

STORED = datasets.StoredDataset.__subclasses__()
SLOW = {"kddcup99-10pct", "reuters"}
COLUMN_WISE = {preparing.columns_around_zero, preparing.everything_to_unit}


def no_network(address, **_):
    raise urllib.error.URLError(f"a test asked for {address}")


@pytest.fixture(autouse=True)
def folders(monkeypatch, tmp_path):
    """The mirror, and an empty data folder of River. Nothing can be fetched."""
    monkeypatch.setenv("RIVER_BUDGET_DATA", str(DATA))
    monkeypatch.setenv("RIVER_DATA", str(tmp_path / "river_data"))
    monkeypatch.setattr(urllib.request, "urlopen", no_network)


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "river_data" / "river_budget"


loaded = {}


def get(kind):
    """An instance that is read once for all tests."""
    if kind not in loaded:
        loaded[kind] = kind()
    return loaded[kind]


def in_mirror(kind):
    return all(f"{file.name}.xz" in fetching.SHA256 for file in kind.definition.files)


def as_matrix(kind):
    """Whether the mirror has the authors' matrix."""
    return f"{kind.definition.name}.mat" in fetching.SHA256


def by_name(kind):
    return kind.__name__


MIRRORED = [
    pytest.param(
        kind, id=kind.__name__, marks=[pytest.mark.slow] if kind.definition.name in SLOW else []
    )
    for kind in STORED
    if in_mirror(kind)
]
# what they hold


def sources():
    """The table of SOURCES.md: name -> rows, features, what it says of the targets, SHA-256."""
    if not (DATA / "SOURCES.md").is_file():
        pytest.skip("there is no SOURCES.md beside the data")
    rows = re.findall(
        r"^\| (\S+)\.xz \| [^|]+ \| ([\d,]+) \| ([\d,]+) \| ([^|]+) \| [\d,]+ \| `(\w+)` \|$",
        (DATA / "SOURCES.md").read_text(),
        re.M,
    )
    return {
        name: (int(n.replace(",", "")), int(d.replace(",", "")), targets, sha)
        for name, n, d, targets, sha in rows
    }


def class_counts(description):
    """{label: count} of the words of SOURCES.md, or None."""
    pairs = re.findall(r"([-+]?\d+): ([\d,]+)", description)
    return {int(label): int(count.replace(",", "")) for label, count in pairs}


def test_every_digest_is_the_printed_one():
    printed = {f"{name}.xz": row[-1] for name, row in sources().items()}
    ours = {name: value for name, value in fetching.SHA256.items() if name.endswith(".xz")}
    assert ours.items() <= printed.items()  # there may be data that no class reads yet


@needs_data
@pytest.mark.parametrize("kind", MIRRORED)
def test_shapes_and_targets_are_the_printed_ones(kind):
    made, (X, y) = kind.definition, get(kind).arrays()
    assert X.shape == (made.n_samples, made.n_features)
    assert X.dtype == np.float64
    assert X.flags.c_contiguous
    assert not X.flags.writeable
    assert not y.flags.writeable
    assert np.isfinite(X).all()
    expected = collections.Counter()
    for file in made.files:
        rows, features, targets, _ = sources()[file.name]
        assert (file.rows, made.n_features) == (rows, features)
        expected.update(class_counts(targets))
    if made.task == base.REG:
        assert y.dtype == np.float64
    elif made.task == base.BINARY_CLF:
        assert y.dtype == bool
        assert y.sum() == expected[1]
        assert len(y) == expected.total()
    else:
        assert y.dtype == np.int64
        assert len(np.unique(y)) == made.n_classes
        if expected:  # the 26 letters are not listed
            assert collections.Counter(y.tolist()) == expected


@needs_data
@pytest.mark.parametrize("kind", MIRRORED)
def test_dicts_and_arrays_agree(kind):
    dataset, (X, y) = get(kind), get(kind).arrays()
    for row, target, (x, label) in zip(X, y, dataset.take(200), strict=False):
        if dataset.sparse:
            assert list(x) == row.nonzero()[0].tolist()
        else:
            assert list(x) == list(range(dataset.n_features))
        assert all(type(key) is int and type(value) is float for key, value in x.items())
        assert [x.get(column, 0.0) for column in range(dataset.n_features)] == row.tolist()
        assert label == target
        assert type(label) is {"b": bool, "i": int, "f": float}[y.dtype.kind]


@needs_data
@pytest.mark.parametrize("name", ["german", "spambase", "dna", "satimage", "housing", "mg"])
def test_the_authors_matrix_serves_where_the_published_file_is_missing(name, monkeypatch, tmp_path):
    """Of satimage and mg the mirror has nothing else. The prepared rows are the same."""
    expected, targets = datasets.load(name).arrays()
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / f"{name}.mat").write_bytes((DATA / "lsokl" / f"{name}.mat").read_bytes())
    monkeypatch.setenv("RIVER_BUDGET_DATA", str(mirror))
    dataset = datasets.load(name)
    assert dataset.at_hand
    X, y = dataset.arrays()
    assert X.shape == (dataset.n_samples, dataset.n_features)
    assert X.flags.c_contiguous
    assert np.array_equal(X, expected)
    assert np.array_equal(y, targets)
    assert dataset.n_classes is None or len(np.unique(y)) == dataset.n_classes
    assert len(dataset.orders()) == 20
    assert dataset.authors_orders


def test_an_authors_matrix_of_another_shape_is_named(made, tmp_path):
    dataset = made(
        "a", "https://example.org/a", rows=2, n_features=1, matrix="file:///nowhere/a.mat"
    )
    matlab.savemat(tmp_path / "mirror" / "a.mat", {"data": [[1, 5], [-1, 6], [1, 7]]})
    assert r"its matrix is (3, 2), not (2, 2)" in failure(dataset)


@needs_data
def test_features_are_scaled_as_the_papers_do():
    columns, _ = get(datasets.Shuttle).arrays()
    assert {*columns.min(axis=0)} == {-1}
    assert {*columns.max(axis=0)} == {1}
    pixels, _ = get(datasets.MnistTest).arrays()
    assert (pixels.min(), pixels.max()) == (0, 1)
    assert np.array_equal(pixels * 255, np.rint(pixels * 255))


@needs_data
def test_raw_targets_and_letters_are_whole_numbers(data):
    assert get(datasets.AbaloneScaled).arrays()[1].max() == 29
    for name in get(datasets.LetterRaw).parts:
        for ours, expected in zip(get(datasets.LetterRaw).part(name), data(name), strict=True):
            assert np.array_equal(ours, expected)


@needs_data
def test_raw_letters_are_read_from_the_scaled_file_too(monkeypatch, tmp_path):
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    with lzma.open(DATA / "letter.scale.xz") as scaled:
        (mirror / "letter.scale").write_bytes(scaled.read())
    monkeypatch.setenv("RIVER_BUDGET_DATA", str(mirror))
    assert np.array_equal(datasets.LetterRaw().arrays()[0], get(datasets.LetterRaw).arrays()[0])


@needs_data
def test_parts_are_the_published_files(data):
    dataset = get(datasets.A9a)
    assert dataset.parts == ("a9a", "a9a.t")
    for name, features in (("a9a", 123), ("a9a.t", 122)):
        X, y = dataset.part(name)
        rows, labels = data(name)
        assert np.array_equal(X[:, :features], rows)
        assert np.array_equal(y, labels == 1)
        assert X.base is dataset.arrays()[0]


@needs_data
def test_a_part_may_lie_beside_the_set():
    for name, part in (("usps", "usps.t"), ("letter-raw", "letter.t")):
        X, y = datasets.load(name).part(part)
        assert len(X) == len(y) == sources()[part][0]
        assert len(np.unique(y)) == datasets.load(name).definition.n_classes
    dataset = datasets.W7a()
    X, y = dataset.part("w7a.t")
    assert X.shape == (25_057, 300)
    assert y.sum() == 739
    assert dataset.part("w7a.t")[0] is X
    assert "" not in dataset._loaded
    with pytest.raises(ValueError, match=r"w7a has no part 'w8a': its parts are w7a, w7a\.t"):
        dataset.part("w8a")


@pytest.mark.parametrize("kind", STORED, ids=by_name)
def test_only_sets_of_one_file_are_prepared_by_column(kind):
    """Or a part would have to be prepared by what is in the others."""
    made = kind.definition
    if made.prepare in COLUMN_WISE:
        assert len(made.files) == 1
        assert not made.beside


# orders


@needs_data
@pytest.mark.parametrize("name", ["german", "spambase", "dna", "satimage", "housing", "mg"])
def test_orders_are_those_of_the_authors(name):
    content = matlab.loadmat(DATA / "lsokl" / f"{name}.mat")
    published = content["ID_all" if "ID_all" in content else "ID_list"].astype(int)
    dataset = datasets.load(name)
    assert dataset.authors_orders
    assert np.array_equal(np.array(dataset.orders()) + 1, published)
    assert len(dataset.orders(3)) == 3


def test_orders_are_seeded_where_the_authors_publish_none():
    dataset = datasets.Poker()
    orders = dataset.orders(2)
    for i, order in enumerate(orders):
        assert np.array_equal(order, np.random.default_rng(100 + i).permutation(25_010))
    assert not dataset.authors_orders
    with pytest.raises(ValueError, match="repeats must be a whole number of at least 1"):
        dataset.orders(0)


def test_a_stream_in_time_is_never_shuffled():
    dataset = datasets.Electricity()
    assert dataset.time_order
    (order,) = dataset.orders(20)
    assert np.array_equal(order, np.arange(45_312))
    assert "Order  time" in repr(dataset)
    assert [kind for kind in STORED if kind.definition.time_order] == [datasets.Electricity]


@needs_data
def test_examples_come_in_the_order_of_a_repetition_as_a_river_dataset():
    dataset = datasets.German()
    for k in (0, 20):
        X, y = dataset.arrays()
        order = dataset.orders(k + 1)[k]
        stream = dataset.in_order(k)
        rows, targets = stream.arrays()
        assert np.array_equal(rows, X[order])
        assert np.array_equal(targets, y[order])
        examples = list(stream)
        assert examples[3] == (dict(enumerate(X[order[3]].tolist())), y[order[3]])
        assert len(examples) == stream.n_samples == 1000
    assert (stream.task, stream.n_features, stream.n_classes) == (dataset.task, 24, 2)
    assert "Order  20" in repr(stream)


@needs_data
def test_a_sparse_set_is_sparse_in_every_order():
    dataset = datasets.A9a()
    x, _ = next(iter(dataset.in_order(1)))
    assert dataset.in_order(1).sparse
    assert len(x) < 20


GENERATORS = [datasets.Checkerboard, datasets.PokerHands, datasets.Waveform]


@pytest.mark.parametrize("kind", GENERATORS)
def test_a_generator_draws_anew_for_every_repetition(kind):
    stream = kind(50, seed=7)
    for k in (0, 3):
        X, y = stream.in_order(k).arrays()
        expected, targets = kind(50, seed=100 + k).arrays()
        assert np.array_equal(X, expected)
        assert np.array_equal(y, targets)


def test_an_order_that_does_not_exist_is_named():
    with pytest.raises(ValueError, match="elec2 is a stream in time, with order 0 only, not 1"):
        datasets.Electricity().in_order(1)
    assert np.array_equal(datasets.Electricity().in_order(0).order, np.arange(45_312))
    with pytest.raises(ValueError, match="k must be a whole number of at least 0"):
        datasets.German().in_order(-1)


@needs_data
def test_without_the_authors_file_the_orders_are_ours_and_say_so(monkeypatch, tmp_path):
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / "german.numer.xz").write_bytes((DATA / "german.numer.xz").read_bytes())
    monkeypatch.setenv("RIVER_BUDGET_DATA", str(mirror))
    dataset = datasets.German()
    with pytest.warns(UserWarning, match=r"Permutations of our own instead: german\.mat"):
        orders = dataset.orders(1)
    assert np.array_equal(orders[0], np.random.default_rng(100).permutation(1000))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not dataset.authors_orders  # told once


@pytest.mark.parametrize("flaw", ["another row", "no permutation", "not Matlab"])
def test_orders_of_other_rows_are_not_used(flaw, made, tmp_path):
    """Permutations are worth nothing if they are not of these rows."""
    dataset = made("a", rows=3, n_features=1, authors="file:///nowhere/a.mat")
    (tmp_path / "mirror" / "a").write_text("1 1:5\n-1 1:6\n1 1:7\n")
    matrix = np.array([[1, 5], [-1, 6], [1, 8 if flaw == "another row" else 7]])
    orders = [[3, 1, 2], [1, 1, 3] if flaw == "no permutation" else [2, 1, 3]]
    path = tmp_path / "mirror" / "a.mat"
    matlab.savemat(path, {"data": matrix, "ID_list": orders})
    if flaw == "not Matlab":
        path.write_text("<html>")
    reason = {
        "another row": "its rows are not those of this dataset",
        "no permutation": "it holds a row that is not a permutation",
        "not Matlab": "it is not a file of Matlab",
    }
    with pytest.warns(UserWarning, match=reason[flaw]):
        assert not dataset.authors_orders


def test_the_authors_orders_are_fetched_and_kept(made, cache, monkeypatch, tmp_path):
    (tmp_path / "mirror" / "a").write_text("1 1:5\n-1 1:6\n1 1:7\n")
    content = io.BytesIO()
    matlab.savemat(content, {"data": [[1, 5], [-1, 6], [1, 7]], "ID_all": [[3, 1, 2], [2, 1, 3]]})
    serve(monkeypatch, lambda: Answer(content.getvalue()))
    for _ in range(2):
        dataset = made("a", rows=3, n_features=1, authors="https://example.org/data/a.mat")
        assert dataset.authors_orders
        assert [order.tolist() for order in dataset.orders(2)] == [[2, 0, 1], [1, 0, 2]]
        assert [path.name for path in cache.iterdir()] == ["a.mat"]
        monkeypatch.setattr(urllib.request, "urlopen", no_network)


# as River datasets


@pytest.mark.parametrize("kind", STORED, ids=by_name)
def test_every_dataset_describes_itself(kind):
    dataset = kind()
    assert isinstance(dataset, base.FileDataset)
    words = " ".join(dataset.desc.split())
    for expected in (kind.__name__, f"{dataset.n_samples:,}", f"{dataset.n_features:,}"):
        assert expected in repr(dataset)
    assert dataset.desc in repr(dataset)
    assert (dataset.n_classes is None) == (dataset.task == base.REG)
    never = not in_mirror(kind) and not as_matrix(kind)
    assert never == ("Never fetched in a test" in words)
    for file in kind.definition.beside:
        if f"{file.name}.xz" not in fetching.SHA256:
            assert file.name in words
            assert "ever fetched" in words


def test_names_and_load():
    assert len(set(datasets.names())) == len(datasets.names()) == len(STORED) + 3
    assert isinstance(datasets.load("German"), datasets.German)
    assert datasets.load("waveform", n_samples=7, seed=1).n_samples == 7
    for name in datasets.names():
        kind = type(datasets.load(name))
        assert kind.__name__ in datasets.__all__
    with pytest.raises(ValueError, match="there is no dataset 'iris': there are german, "):
        datasets.load("iris")


# reading


def parsed(text, rows, n_features, reader=reading.libsvm):
    return reader(reading.blocks(io.BytesIO(text)), rows, n_features)


@needs_data
@pytest.mark.parametrize("name", ["w7a", "german.numer_scale", "cadata"])
def test_parser_agrees_with_scikit_learn(name):
    with lzma.open(DATA / f"{name}.xz") as file:
        text = file.read()
    rows, targets = sklearn_datasets.load_svmlight_file(io.BytesIO(text))
    X, y = parsed(text, *rows.shape)
    assert np.array_equal(X, rows.toarray())
    assert np.array_equal(y, targets)


@pytest.mark.parametrize("block", [1, 2, 7, 1000])
def test_blocks_end_where_lines_end(block, monkeypatch):
    monkeypatch.setattr(reading, "READ_AT_ONCE", block)
    text = b"+1 1:0.5 3:1e-3\n-1\n2.5 2:-7 \r\n1 3:4"
    X, y = parsed(text, 4, 3)
    assert X.tolist() == [[0.5, 0, 0.001], [0, 0, 0], [0, -7, 0], [0, 0, 4]]
    assert y.tolist() == [1, -1, 2.5, 1]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"1 1:1\n", "it has 1 rows instead of 2"),
        (b"1 1:1\n" * 3, "it has more than 2 rows"),
        (b"1 1:1\n1 4:1\n", "an index is not a whole number from 1 to 3"),
        (b"1 1:1\n1 0:1\n", "an index is not a whole number from 1 to 3"),
        (b"1 1:1\n1 1.5:1\n", "an index is not a whole number from 1 to 3"),
        (b"1 1:1\n1 1:nan\n", "something in it is not a number"),
        (b"1 1:1\n1 1:\n", "something in it is not a number"),
        (b"1 1:1\n1 1:2 3\n", "something in it is not a number"),
        (b"1 1:1\n\n1 1:1\n", "something in it is not a number"),
        (b"<html>\n</html>\n", "^(?!$)"),
        (b"", "it has 0 rows instead of 2"),
    ],
)
def test_parser_refuses_what_is_not_the_set(text, complaint):
    with pytest.raises(ValueError, match=complaint):
        parsed(text, 2, 3)


def test_comma_separated_values():
    read = reading.Csv(target=1, drop=(3,), header=True, words=((b"UP", b"1"), (b"DOWN", b"-1")))
    X, y = parsed(b"a,b,c,d\r\n1,UP,2,9\r\n3,DOWN,4.5,9\r\n", 2, 2, read)
    assert X.tolist() == [[1, 2], [3, 4.5]]
    assert y.tolist() == [1, -1]
    with pytest.raises(ValueError, match="something in it is not a number"):
        parsed(b"a,b,c,d\n1,UP,,9\n", 1, 2, read)


def kdd_line(duration, protocol, service, flag, rest, kind):
    return ",".join([str(duration), protocol, service, flag, *map(str, rest), kind]).encode()


def test_connections_are_encoded_by_columns_in_alphabetical_order():
    rest = list(range(10, 47))
    lines = [
        kdd_line(7, "udp", "smtp", "SF", rest, "normal."),
        kdd_line(8, "icmp", "http", "REJ", rest, "smurf."),
        kdd_line(9, "tcp", "http", "SF", rest, "neptune."),
    ]
    X, y = parsed(b"\n".join(lines), 3, 38 + 3 + 2 + 2, reading.kdd)
    assert X[:, :38].tolist() == [[d, *rest] for d in (7, 8, 9)]
    assert X[:, 38:].tolist() == [
        [0, 0, 1, 0, 1, 0, 1],
        [1, 0, 0, 1, 0, 1, 0],
        [0, 1, 0, 1, 0, 0, 1],
    ]
    assert y.tolist() == [-1, 1, 1]
    with pytest.raises(ValueError, match="its columns become 45 features"):
        parsed(b"\n".join(lines), 3, 46, reading.kdd)
    with pytest.raises(ValueError, match="its rows have 2 columns instead of 42"):
        parsed(b"1,normal.", 1, 46, reading.kdd)


# The published forms of files that are LIBSVM text in the mirror, or were never seen, on made-up
# rows.


def row(n, target, at):
    """n features 1, 2, ... with the target among them."""
    values = [str(i + 1) for i in range(n)]
    return ",".join([*values[:at], target, *values[at:]])


@pytest.mark.parametrize(
    ("kind", "lines", "target"),
    [
        (datasets.Spambase, [row(57, "1", 57)], 1),
        (datasets.Electricity, ["date,day", row(8, "DOWN", 8)], -1),
        (datasets.Casp, ["RMSD,F1", row(9, "2.5", 0)], 2.5),
        (datasets.Slice, ["patientId,value0", row(385, "2.5", 385)], 2.5),
        (
            datasets.Parkinsons,
            ["subject#,age,sex,test_time,motor_UPDRS,total_UPDRS,Jitter", row(20, "99,2.5", 4)],
            2.5,
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
@pytest.mark.parametrize("nested", [False, True])
def test_archives_of_comma_separated_values(kind, lines, target, nested, tmp_path):
    (file,) = kind.definition.files
    d = kind.definition.n_features
    path = archive(tmp_path / "set.zip", {f"deep/{file.member}": "\n".join(lines), "names": "?"})
    if nested:
        path = archive(tmp_path / "outer.zip", {"a": "?", "inner.zip": path.read_bytes()})
    X, y = reading.read(path, file.member, file.reader, 1, d)
    assert X.tolist() == [list(range(1, d + 1))]
    assert y.tolist() == [target]


def archive(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


# finding and fetching

TEXT = b"".join(b"1 1:%d\n-1 2:0.25\n" % i for i in range(200))


@pytest.fixture
def made(monkeypatch, tmp_path):
    """made(name, ...): a dataset of our own, with a mirror that is empty."""
    (tmp_path / "mirror").mkdir()
    monkeypatch.setenv("RIVER_BUDGET_DATA", str(tmp_path / "mirror"))

    def make(name, address=None, rows=400, n_features=2, matrix="", **more):
        file = File(name, rows, address, authors=matrix)
        what = Definition(name, base.BINARY_CLF, n_features, 2, (file,), **more)
        return type("Made", (datasets.StoredDataset,), {"definition": what, "__doc__": "Made."})()

    return make


class Answer(io.BytesIO):
    """What a server sends."""

    def __init__(self, content, length=None):
        super().__init__(content)
        self.headers = {} if length is None else {"Content-Length": str(length)}


def serve(monkeypatch, answer):
    def urlopen(address, timeout):
        assert 0 < timeout < 120
        if isinstance(answer, Exception):
            raise answer
        return answer()

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)


def packed(name):
    if name.endswith(".bz2"):
        return bz2.compress(TEXT)
    if name.endswith(".xz"):
        return lzma.compress(TEXT)
    if name.endswith(".gz"):
        return gzip.compress(TEXT)
    if name.endswith(".zip"):
        content = io.BytesIO()
        archive(content, {"set": TEXT})
        return content.getvalue()
    return TEXT


NAMES = ["set", "set.bz2", "set.xz", "set.gz", "set.zip"]


@pytest.mark.parametrize("name", NAMES)
def test_fetched_once_and_unpacked(name, made, cache, monkeypatch, tmp_path, capsys):
    content = packed(name)
    serve(monkeypatch, lambda: Answer(content, len(content)))
    dataset = made("set", f"https://example.org/data/{name}")
    assert not dataset.at_hand
    X, y = dataset.arrays()
    assert X[:4].tolist() == [[0, 0], [0, 0.25], [1, 0], [0, 0.25]]
    assert y[:4].tolist() == [True, False, True, False]
    assert [path.name for path in cache.iterdir()] == [name]
    assert (cache / name).read_bytes() == content
    assert not list((tmp_path / "mirror").iterdir())
    out, err = capsys.readouterr()
    assert out == ""
    assert f"https://example.org/data/{name} 1/1" in err

    monkeypatch.setattr(urllib.request, "urlopen", no_network)
    again = made("set", f"https://example.org/data/{name}")
    assert again.at_hand
    assert again.path == cache / name
    assert np.array_equal(again.arrays()[0], X)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_the_mirror_is_read_and_nothing_is_written(name, made, cache, tmp_path):
    (tmp_path / "mirror" / name).write_bytes(packed(name))
    dataset = made("set", "https://example.org/data/set.bz2")
    assert dataset.at_hand
    assert dataset.arrays()[0].shape == (400, 2)
    assert [path.name for path in (tmp_path / "mirror").iterdir()] == [name]
    assert not cache.exists()


def test_an_address_of_a_file(made, cache, tmp_path, monkeypatch):
    monkeypatch.undo()  # the true urlopen, which also opens files
    monkeypatch.setenv("RIVER_DATA", str(cache.parent))
    monkeypatch.delenv("RIVER_BUDGET_DATA", raising=False)
    (tmp_path / "set.bz2").write_bytes(packed("set.bz2"))
    dataset = made("set", (tmp_path / "set.bz2").as_uri())
    assert dataset.arrays()[0].shape == (400, 2)
    assert (cache / "set.bz2").is_file()


def failure(dataset):
    with pytest.raises(datasets.DatasetUnavailable) as raised:
        dataset.arrays()
    return str(raised.value)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("announced", [True, False])
def test_a_truncated_download_is_not_kept(name, announced, made, cache, monkeypatch):
    content = packed(name)
    half = content[: len(content) // 2]
    serve(monkeypatch, lambda: Answer(half, len(content) if announced else None))
    message = failure(made("set", f"https://example.org/{name}"))
    if announced:
        assert f"{len(half):,} of {len(content):,} bytes arrived" in message
    assert not list(cache.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_a_page_instead_of_a_file_is_not_kept(name, made, cache, monkeypatch):
    page = b"<html>\nPlease accept our cookies\n</html>\n"
    serve(monkeypatch, lambda: Answer(page, len(page)))
    assert f"could not be fetched from https://example.org/{name}" in failure(
        made("set", f"https://example.org/{name}")
    )
    assert not list(cache.iterdir())


def test_a_file_of_another_shape_is_not_kept(made, cache, monkeypatch):
    serve(monkeypatch, lambda: Answer(TEXT, len(TEXT)))
    message = failure(made("set", "https://example.org/set", rows=401))
    assert "it has 400 rows instead of 401" in message
    assert not list(cache.iterdir())


def test_a_wrong_digest_is_not_kept(made, cache, monkeypatch):
    serve(monkeypatch, lambda: Answer(TEXT, len(TEXT)))
    monkeypatch.setitem(fetching.SHA256, "set", "0" * 64)
    found = hashlib.sha256(TEXT).hexdigest()
    message = failure(made("set", "https://example.org/set"))
    assert f"its SHA-256 is {found} instead of {'0' * 64}" in message
    assert not list(cache.iterdir())
    monkeypatch.setitem(fetching.SHA256, "set", found)
    made("set", "https://example.org/set").arrays()
    assert (cache / "set").is_file()


def test_a_wrong_digest_in_the_mirror_is_named(made, tmp_path, monkeypatch):
    (tmp_path / "mirror" / "set.xz").write_bytes(lzma.compress(TEXT))
    monkeypatch.setitem(fetching.SHA256, "set.xz", "0" * 64)
    message = failure(made("set", "https://example.org/set"))
    assert f"{tmp_path / 'mirror' / 'set.xz'} is of no use (its SHA-256 is " in message
    assert "it is published at https://example.org/set" in message


class Broken(Answer):
    def read(self, *_):
        raise self.error


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (ConnectionResetError("reset by peer"), datasets.DatasetUnavailable),
        (TimeoutError("timed out"), datasets.DatasetUnavailable),
        (urllib.error.ContentTooShortError("too short", b""), datasets.DatasetUnavailable),
        (fetching.http.client.IncompleteRead(b"12"), datasets.DatasetUnavailable),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_broken_connection_leaves_nothing(error, raised, made, cache, monkeypatch):
    answer = Broken(b"", 10)
    answer.error = error
    serve(monkeypatch, lambda: answer)
    with pytest.raises(raised):
        made("set", "https://example.org/set").arrays()
    assert not list(cache.iterdir())


@pytest.mark.parametrize(
    "error",
    [
        urllib.error.URLError("Name or service not known"),
        urllib.error.HTTPError("https://example.org/set", 404, "Not Found", None, None),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_names_address_folder_and_variable(error, made, cache, tmp_path, monkeypatch):
    serve(monkeypatch, error)
    message = failure(made("set", "https://example.org/data/set.bz2"))
    for part in (
        "set.xz",
        "https://example.org/data/set.bz2",
        str(error),
        "RIVER_BUDGET_DATA",
        str(tmp_path / "mirror"),
        str(cache),
    ):
        assert part in message
    monkeypatch.delenv("RIVER_BUDGET_DATA")
    assert "not set now" in failure(made("set", "https://example.org/data/set.bz2"))


def test_a_cache_that_cannot_be_written_is_named(made, cache, monkeypatch):
    serve(monkeypatch, lambda: Answer(TEXT))
    cache.parent.write_text("a file where a folder should be")
    assert str(cache) in failure(made("set", "https://example.org/set"))


def test_a_set_for_registered_users_is_read_from_the_mirror(made, tmp_path):
    dataset = made("set", None)
    assert "its publisher gives it to registered users" in failure(dataset)
    (tmp_path / "mirror" / "set").write_bytes(TEXT)
    assert dataset.arrays()[0].shape == (400, 2)
    assert datasets.KDDCup08.definition.files[0].names[:2] == ("kddcup08.xz", "kddcup08")


def test_the_cache_lies_in_rivers_data_folder(monkeypatch):
    assert fetching.cache_folder() == pathlib.Path(base.get_data_home(), "river_budget")
    monkeypatch.delenv("RIVER_DATA")
    monkeypatch.setattr(base.os, "makedirs", lambda path: None)
    assert fetching.cache_folder() == pathlib.Path(base.get_data_home(), "river_budget")


def test_files_are_found_under_their_published_names():
    assert datasets.Casp.definition.files[0].names == (
        "casp.xz",
        "physicochemical+properties+of+protein+tertiary+structure.zip",
        "CASP.csv",
    )


# generators


@pytest.mark.parametrize("kind", GENERATORS)
def test_generators_give_the_same_numbers_both_ways(kind, monkeypatch):
    monkeypatch.setattr(datasets.generated, "DRAWN_AT_ONCE", 100)
    X, y = kind(250, seed=3).arrays()
    assert X.shape == (250, kind(250).n_features)
    pairs = list(kind(250, seed=3))
    assert [list(x.values()) for x, _ in pairs] == X.tolist()
    assert [label for _, label in pairs] == y.tolist()
    assert np.array_equal(kind(90, seed=3).arrays()[0], X[:90])
    assert not np.array_equal(kind(250, seed=4).arrays()[0], X)
    endless = kind(None, seed=3)
    assert "∞" in repr(endless)
    assert [label for _, label in endless.take(250)] == y.tolist()
    with pytest.raises(ValueError, match="n_samples must be given"):
        endless.arrays()
    with pytest.raises(ValueError, match="n_samples must be a whole number"):
        kind(0)


@pytest.mark.parametrize("kind", [datasets.Checkerboard, datasets.Waveform])
def test_generators_are_standardised(kind):
    X, y = kind(100_000, seed=0).arrays()
    assert abs(X.mean(axis=0)).max() < 0.02
    assert abs(X.std(axis=0) - 1).max() < 0.01
    shares = np.unique(y, return_counts=True)[1] / len(y)
    assert np.allclose(shares, 1 / kind(1).n_classes, atol=0.01)


def test_neighbouring_squares_of_the_board_differ():
    X, y = datasets.Checkerboard(5000, seed=1).arrays()
    column, row = np.floor(4 * (X / 12**0.5 + 0.5)).astype(int).T
    assert (column.min(), column.max()) == (0, 3)
    assert np.array_equal(y, (column + row) % 2 == 1)


def test_waves_have_the_mean_of_their_triangles():
    """The class's two triangles have equal shares on average."""
    X, y = datasets.Waveform(60_000, seed=1).arrays()
    waves = X * datasets.generated.DEVIATION + datasets.generated.MEAN
    places = np.arange(1, 22)
    triangles = [np.maximum(6 - abs(places - centre), 0) for centre in (11, 15, 7)]
    for label, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        expected = (triangles[a] + triangles[b]) / 2
        assert np.allclose(waves[y == label].mean(axis=0), expected, atol=0.08)


@pytest.mark.parametrize("kind", GENERATORS)
def test_pieces_of_a_stream_are_its_arrays(kind, monkeypatch):
    monkeypatch.setattr(datasets.generated, "DRAWN_AT_ONCE", 100)
    X, y = kind(450, seed=3).arrays()
    parts = list(kind(450, seed=3).pieces([30, 70, 1, 249, 500, 5]))
    assert [len(labels) for _, labels in parts] == [30, 70, 1, 249, 100]
    assert np.array_equal(np.concatenate([rows for rows, _ in parts]), X)
    assert np.array_equal(np.concatenate([labels for _, labels in parts]), y)
    endless = [len(labels) for _, labels in kind(None, seed=3).pieces([450, 450])]
    assert endless == [450, 450]
    with pytest.raises(ValueError, match="size must be a whole number"):
        list(kind(450, seed=3).pieces([0]))


HANDS = {  # suits and ranks of the five cards
    "1 2 1 5 2 7 3 9 4 12": 0,
    "1 2 2 2 2 7 3 9 4 12": 1,
    "1 2 2 2 2 7 3 7 4 12": 2,
    "1 2 2 2 3 2 3 7 4 12": 3,
    "1 4 2 3 3 1 3 2 4 5": 4,
    "1 10 2 13 3 1 3 11 4 12": 4,
    "1 11 2 13 3 1 3 2 4 12": 0,  # an ace has no two neighbours
    "3 2 3 9 3 11 3 12 3 13": 5,
    "1 2 2 2 3 2 3 7 4 7": 6,
    "1 2 2 2 3 2 4 2 4 7": 7,
    "2 9 2 8 2 7 2 6 2 5": 8,
    "2 10 2 13 2 1 2 11 2 12": 9,
}


@pytest.mark.parametrize(("hand", "worth"), HANDS.items())
def test_a_hand_is_worth_what_players_say(hand, worth):
    cards = np.array([hand.split()], int)
    assert datasets.generated.worth_of(cards[:, ::2], cards[:, 1::2]).tolist() == [worth]


@needs_data
def test_published_hands_have_the_worth_that_is_computed():
    X, y = datasets.Poker().arrays()
    cards = X.astype(int)
    assert np.array_equal(datasets.generated.worth_of(cards[:, ::2], cards[:, 1::2]), y)


def test_no_hand_has_a_card_twice_and_all_cards_are_dealt():
    X, _ = datasets.PokerHands(20_000, seed=0).arrays()
    cards = (13 * (X[:, ::2] - 1) + X[:, 1::2] - 1).astype(int)
    assert (np.diff(np.sort(cards, axis=1), axis=1) > 0).all()
    for place in cards.T:  # 385 of each on average
        assert (abs(np.bincount(place, minlength=52) - 20_000 / 52) < 110).all()
