"""What a mechanism may return, and what it may not."""

import struct

import dpscope
import pytest
from dpscope import _outputs

np = pytest.importorskip("numpy", reason="numpy is not installed")


class OnGPU:
    __cuda_array_interface__ = {"shape": (3,)}


class Tensor:
    class device:
        type = "cuda"

        def __str__(self):
            return "cuda:0"

    device = device()

    def detach(self):
        return self


many = [
    (None, "None: does it lack a return"),
    (np.zeros(2), "2 outputs for a request of 3"),
    ([1.0, 2.0], "2 outputs for a request of 3"),
    (1.5, "one value"),
    (np.float64(2), "one value"),
    (np.array([1, None, 2], dtype=object), "object array"),
    (np.array([[1, 2], [3, 4], [5, 6]], dtype=object), "object array"),
    (np.zeros(3, complex), "complex numbers"),
    ([1j, 2j, 3j], "complex numbers"),
    (np.zeros((3, 2, 2)), "reshape it"),
    (np.zeros((3, 0)), "at least one value"),
    (np.array(["2020-01-01"] * 3, dtype="M8[D]"), "dates"),
    (np.array([b"a"] * 3), "bytes"),
    (np.zeros(3, np.longdouble), "float64"),
    (np.array([2**63, 1, 2], np.uint64), "2^63"),
    (np.zeros(3, [("a", "f8")]), "structured"),
    ([1.0, None, 2.0], "None among its outputs"),
    ([object()] * 3, "a object as an output"),
    ("abc", "a str"),
    ({1, 2, 3}, "a set"),
    ((x for x in range(3)), "a generator"),
    (OnGPU(), "GPU"),
    (np.ma.masked_array([1.0, 2, 3], mask=[0, 1, 0]), "value.filled"),
    ([np.ma.masked, np.ma.masked, np.ma.masked], "value.filled"),
    (Tensor(), "cuda:0"),
]


@pytest.mark.parametrize("value, words", many, ids=[w for _, w in many])
def test_refused(value, words):
    with pytest.raises(dpscope.InputError, match=None) as e:
        _outputs.many(value, 3)
    assert words in str(e.value)


taken = [
    (np.array([1.5, 2, 3]), b"F64 ", [1.5, 2, 3], 1),
    (np.array([1.5, 2, 3], np.float32), b"F64 ", [1.5, 2, 3], 1),
    (np.array([1, 2, 3], ">f8"), b"F64 ", [1, 2, 3], 1),
    (np.array([1.5, 2, 3] * 2)[::2], b"F64 ", [1.5, 3, 2], 1),
    (np.array([1, 2, 3], np.uint8), b"I64 ", [1, 2, 3], 1),
    (np.arange(6).reshape(3, 2), b"I64 ", [0, 1, 2, 3, 4, 5], 2),
    (np.asfortranarray(np.arange(6.0).reshape(3, 2)), b"F64 ", [0, 1, 2, 3, 4, 5], 2),
    ([1.5, 2.0, 3.0], b"F64 ", [1.5, 2, 3], 1),
    ([1, 2, 3], b"I64 ", [1, 2, 3], 1),
    ([np.float64(1), np.float64(2), np.float64(3)], b"F64 ", [1, 2, 3], 1),
    ([np.array([1.0, 2]), np.array([3.0, 4]), np.array([5.0, 6])], b"F64 ", [1, 2, 3, 4, 5, 6], 2),
]


@pytest.mark.parametrize("value, kind, want, columns", taken)
def test_block(value, kind, want, columns):
    head, body = _outputs.many(value, 3).frame()
    assert struct.unpack("<4sIII", head) == (kind, 8 + 24 * columns, 3, columns)
    assert list(struct.unpack(f"<{3 * columns}{'d' if kind == b'F64 ' else 'q'}", body)) == want


@pytest.mark.parametrize(
    "value, want",
    [
        (["a", "b", 'c"'], b'["a", "b", "c\\""]'),
        (np.array(["a", "b", "c"]), b'["a", "b", "c"]'),
        (np.array([True, False, True]), b"[true, false, true]"),
        ([1, "none", 2.5], b'[1, "none", 2.5]'),
        ([(1, "a"), (2, "b"), (3, "c")], b'[[1, "a"], [2, "b"], [3, "c"]]'),
        ([1.0, float("nan"), 2], b"[1.0, NaN, 2]"),
        ([2**70, 1, 2], b"[1180591620717411303424, 1, 2]"),
    ],
)
def test_words(value, want):
    answer = _outputs.many(value, 3)
    assert answer.kind == b"JSON" and bytes(answer.body) == want


def test_pandas():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    for value, want in [
        (pd.Series(["a", "b", "c"]), b'["a", "b", "c"]'),
        (pd.Series(["a", "b", "c"], dtype="string"), b'["a", "b", "c"]'),
        (pd.Categorical(["x", "y", "x"]), b'["x", "y", "x"]'),
        (pd.Series([1, 2, 3], dtype="Int64"), b"[1, 2, 3]"),
        (pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]}), b'[[1, "x"], [2, "y"], [3, "z"]]'),
    ]:
        assert _outputs.many(value, 3).line() == want
    with pytest.raises(dpscope.InputError, match="missing values"):
        _outputs.many(pd.Series([1, None, 3], dtype="Int64"), 3)


def test_no_copy():
    a = np.arange(3.0)
    body = _outputs.many(a, 3).frame()[1]
    a[0] = 7
    assert struct.unpack("<3d", body)[0] == 7


def test_single():
    assert _outputs.single([1.0, 2.0]).kind == b"F64 "
    assert _outputs.single([np.float64(1), np.float64(2)]).kind == b"F64 "
    assert _outputs.single([np.array([1.0, 2]), np.array([3.0, 4])]).columns == 2
    assert _outputs.single([(1.0, 2.0)] * 2).columns == 2
    assert _outputs.single([np.array(1.5)] * 2).columns == 1
    assert bytes(_outputs.single(["a", "b"]).body) == b'["a", "b"]'
    for values, words in [([None], "return statement"), ([1j], "complex"), ([np.zeros((2, 2))], "one output"), ([(1.0,), (1.0, 2.0)], "same columns")]:
        with pytest.raises(dpscope.InputError, match=words):
            _outputs.single(values)


def test_torch():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    assert _outputs.many(torch.arange(3.0, requires_grad=True), 3).kind == b"F64 "
    with pytest.raises(dpscope.InputError, match="meta"):
        _outputs.many(torch.zeros(3, device="meta"), 3)
