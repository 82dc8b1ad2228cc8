# Runs the user's function: the source of randomness, a call for n outputs, and faults in
# words. MicroPython and CPython both read it.
import sys
from array import array

addressof = None
if sys.implementation.name == "micropython":
    from uctypes import addressof

FILE = "mechanism.py"
EXACT = 2**53  # the largest whole number up to which a double holds them all


class Wrong(Exception):
    """A fault in words of our own."""


class Missing(AttributeError):
    """A member of random that there is not."""


MEMBERS = ("uniform", "integer", "laplace", "gaussian", "normal", "exponential", "choice")

# Numbers that JavaScript draws, to the same bits as there. They are globals, for
# MicroPython counts what a function closes over among its arguments.
unit = exponentials = laplaces = polar = root = None


def uniform():
    return unit()


def integer(m):
    return int(unit() * m)


def laplace(scale):
    return scale * laplaces()


def gaussian(sigma):
    return sigma * polar() * root()


def exponential(scale):
    return scale * exponentials()


def choice(values):
    return values[int(unit() * len(values))]


class Random:
    """The source of randomness. Its members are functions and no methods: they are called often."""

    def __init__(self):
        self.uniform, self.integer, self.laplace, self.choice = uniform, integer, laplace, choice
        self.gaussian, self.normal, self.exponential = gaussian, gaussian, exponential

    def __getattr__(self, name):
        near = [other for other in MEMBERS if distance(name, other) <= 2]
        raise Missing(
            'random has no "%s": %s'
            % (name, 'did you mean "%s"?' % near[0] if near else "it has " + ", ".join(MEMBERS))
        )


def source(draw):
    global unit, exponentials, laplaces, polar, root
    unit, exponentials, laplaces, polar, root = draw.uniform, draw.exponential, draw.laplace, draw.polar, draw.root
    return Random()


def distance(a, b):
    """How many letters have to be changed, added or taken away."""
    row = list(range(len(b) + 1))
    for i in range(len(a)):
        following = [i + 1]
        for j in range(len(b)):
            following.append(min(row[j + 1] + 1, following[j] + 1, row[j] + (a[i] != b[j])))
        row = following
    return row[-1]


code = text = None  # of the user
given = out = None  # the dataset's numbers, and those of the outputs
fault = ""
line = 0
printed = None  # the first that the code printed


def load(source):
    """Compiles the user's code. Says whether it could."""
    return guarded(compiled, source) is not None


def compiled(source):
    global code, text
    text = source
    code = compile(source, FILE, "exec")
    return code


def room(count):
    """Makes room for the numbers of a dataset. Returns it, or in MicroPython its address."""
    global given
    given = array("d", bytes(8 * count))
    return addressof(given) if addressof else given


def place():
    """The address of the outputs, in MicroPython."""
    return addressof(out)


def length():
    return len(out)


def told():
    return fault


def at():
    return line


def heard():
    return printed


def ask(columns, n, low, high, draw):
    """Draws n outputs into out. Returns how many numbers each has; 0 where that failed."""
    width = guarded(outputs, columns, n, low + (high << 30), source(draw))
    return width or 0


def outputs(columns, n, seed, random):
    global out
    reseed(seed)
    space = {"__name__": "mechanism", "print": quiet}  # anew, so that nothing is left of the call before
    exec(code, space)
    mechanism = space.get("mechanism")
    if not callable(mechanism):
        raise Wrong("it defines no function mechanism(rows, random)")
    numbers = list(given)
    base = [numbers[at : at + columns] for at in range(0, len(numbers), columns)]

    def rows():
        return [row[:] for row in base]  # fresh ones: the code may change them

    names = parameters(mechanism)
    if len(names) == 2 and names[1] == "n":
        result = mechanism(rows(), n)
    elif len(names) < 3:
        result = [mechanism(rows(), random) for _ in range(n)]
    else:
        result = mechanism(rows(), n, random)
    out, width = flat(result, n)
    return width


def parameters(mechanism):
    """The names of a function's parameters, as its text has them: MicroPython keeps none."""
    at = text.rfind("def mechanism(")
    if at < 0:
        try:
            from inspect import signature

            return list(signature(mechanism).parameters)
        except Exception:
            return ["rows", "random"]
    names, name, depth, comment = [], "", 0, False
    for c in text[at + len("def mechanism(") :]:
        if comment or c == "#":
            comment = c != "\n"
        elif depth == 0 and c in ",)":
            name = name.split("=")[0].split(":")[0].strip()
            if name and name[0] not in "*/":
                names.append(name)
            name = ""
            if c == ")":
                break
        else:
            depth += (c in "([{") - (c in ")]}")
            name += c
    return names


def quiet(*values, **how):
    """Takes the place of print: the first words are kept, the others go nowhere."""
    global printed
    if printed is None:
        printed = " ".join([str(value) for value in values])[:200]


def reseed(seed):
    """Seeds Python's own sources of randomness, those that the code has."""
    import random

    if sys.implementation.name == "cpython":
        import os

        random.seed(seed)
        os.urandom = random._urandom = random.randbytes  # for secrets and numpy's default_rng()
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed([seed % 2**32, seed >> 32])
    else:
        random.seed((seed ^ (seed >> 30)) & 0x3FFFFFFF)  # what it keeps of a number


def is_list(value):
    return isinstance(value, (list, tuple, array))


def flat(result, n):
    """n outputs as numbers in a row, and how many each has."""
    result = plain(result)
    if not is_list(result):
        raise Wrong("mechanism returned %s, must return a list of n = %d outputs" % (shown(result), n))
    if len(result) != n:
        raise Wrong("mechanism returned %d outputs, must return n = %d" % (len(result), n))
    result = [x if type(x) is float else plain(x) for x in result]
    try:
        numbers = array("d", result)
    except (TypeError, ValueError, OverflowError):
        numbers = None  # lists, or what is none
    if numbers is not None and all([-EXACT < x < EXACT for x in numbers]):
        return numbers, 1
    several = is_list(result[0])
    width = len(result[0]) if several else 1
    numbers = array("d")
    for i in range(n):
        output = result[i] if several else [result[i]]
        if not is_list(output) or len(output) != width or width == 0:
            if width == 0:
                raise Wrong("output %d is an empty list, must be a number or a list of numbers" % (i + 1))
            want = "a list of %d numbers" % width
            raise Wrong("output %d is %s, not %s as the first is" % (i + 1, size(output if several else output[0]), want))
        for value in output:
            numbers.append(number(value, i + 1))
    return numbers, width


def plain(value):
    """A value without numpy's types."""
    return value.tolist() if hasattr(value, "tolist") and not isinstance(value, array) else value


def size(value):
    return "a list of %d" % len(value) if is_list(value) else shown(value)


def number(value, place):
    """A finite number that a double holds."""
    value = plain(value)
    if is_list(value):
        raise Wrong("output %d has %s where a number must be" % (place, size(value)))
    if isinstance(value, (bool, int)):
        if not -EXACT <= value <= EXACT:
            raise Wrong("output %d is %s, a whole number beyond 2^53, which a double does not hold: return float(x), or two columns, its high and its low part" % (place, str(value)[:40]))
        return float(value)
    if not isinstance(value, (str, bytes, complex)) and hasattr(value, "__float__"):
        value = float(value)  # of Decimal, Fraction or numpy
    if not isinstance(value, float) or value - value != 0:
        raise Wrong("output %d is %s, must be a finite number" % (place, shown(value)))
    return value


def shown(value):
    """A value in words."""
    if value is None or isinstance(value, (bool, int, float, complex)):
        return str(value)[:80]
    if isinstance(value, str):
        return '"%s"' % value[:80]
    if callable(value):
        return "a function"
    return "a value of type " + type(value).__name__


def guarded(do, *of):
    """What a function returns; None, with fault and line, where it raises."""
    global fault, line
    fault, line = "", 0
    try:
        return do(*of)
    except BaseException as error:
        line = where(error)
        try:
            fault = str(error) if isinstance(error, (Wrong, Missing)) else words(error)
        except BaseException:
            fault = "it raised an error that cannot be shown"
    return None


def words(error):
    name = type(error).__name__
    if isinstance(error, SyntaxError):
        return "%s: %s" % (name, getattr(error, "msg", None) or error)
    if isinstance(error, MemoryError) and not str(error):
        return "MemoryError: Python has no memory left"
    return "%s: %s" % (name, str(error).strip()) if str(error) else name


def where(error):
    """The last line of the user's file that an error passed; 0 where there is none."""
    found = 0
    if isinstance(error, SyntaxError) and getattr(error, "filename", None) == FILE:
        return error.lineno or 0
    if hasattr(error, "__traceback__"):
        at = error.__traceback__
        while at is not None:
            if at.tb_frame.f_code.co_filename == FILE:
                found = at.tb_lineno
            at = at.tb_next
        return found
    import io

    told = io.StringIO()
    sys.print_exception(error, told)
    mark = 'File "%s", line ' % FILE
    for part in told.getvalue().split(mark)[1:]:
        digits = ""
        for c in part:
            if not c.isdigit():
                break
            digits += c
        found = int(digits or 0) or found
    return found
