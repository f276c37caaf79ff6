"""The public surface: names pinned, arguments documented, light import, examples in docstrings, sizes of files."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

import appell as ap
from appell.formulation import FORMULATIONS, AbstractFormulation

SOURCE = Path(ap.__file__).parent
ROOT = Path(__file__).parents[2]
NAMES = """
    HigherOrder higher_order
    LyapunovElimination QuasiAccelerations RelativeMotion Shulgin Stream
    control drained ensemble friction
    equilibrium galerkin integral_principle linearize periodic stability
    AppellError Damper Equations Event Force Frame Generalized GibbsAppell Gravity Holonomic Model Motion Multipliers
    GPME ComputationalGPME Programmed plan planning
    Nonholonomic Outcome Particle Potential Prescribed Recursive RigidBody Rolling Spring State System Torque
    UdwadiaKalaba
    Voronets compile coordinates derive inputs library load parameters simulate speeds states
    sweep t track verify
    Chain Joint shapes report sprayer view
""".split()


ENGINES = "sympy casadi heyoka xarray scipy matplotlib pandas numpy typer rich".split()


def principles():
    """The names of all formulations, which are final classes."""
    modules = [importlib.import_module(f"appell.formulation.{path.stem}") for path in SOURCE.glob("formulation/*.py")]
    kinds = {kind for module in modules for _, kind in inspect.getmembers(module, inspect.isclass)}
    return {e.__name__ for e in kinds if issubclass(e, AbstractFormulation) and not inspect.isabstract(e)}


def test_every_formulation_is_public():
    assert {kind.__name__ for kind in FORMULATIONS} <= principles() <= set(ap.__all__)


def test_public_names_are_pinned():
    """Whoever adds or removes a name changes this list, and says so in the changelog."""
    assert sorted(ap.__all__) == sorted(NAMES)
    assert len(ap.__all__) - len(principles()) <= 57
    assert set(dir(ap)) >= set(ap.__all__)


def test_every_public_name_can_be_had():
    for name in ap.__all__:
        assert getattr(ap, name) is getattr(ap, name)
    with pytest.raises(AttributeError, match="appell has no name 'KanesMethod'"):
        _ = ap.KanesMethod


def test_types_see_the_same_names_as_the_program():
    """The imports for type checkers at the head of the package and the table of names must be one list."""
    text = (SOURCE / "__init__.py").read_text()
    typed = set(re.findall(r"^    from appell[\w.]* import (\w+) as \1$", text, re.MULTILINE))
    assert typed == set(ap.__all__)


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version

    assert ap.__version__ == version("appell")


def callables():
    """Every public function, class and public method of a class."""
    for name in ap.__all__:
        thing = getattr(ap, name)
        if inspect.isclass(thing):
            yield name, thing
            for method, function in vars(thing).items():
                if not method.startswith("_") and inspect.isfunction(function):
                    yield f"{name}.{method}", function
        elif inspect.isfunction(thing):
            yield name, thing


CALLABLES = dict(callables())
INHERITED = {
    f"{base.__name__}.{method}": function
    for thing in CALLABLES.values()
    if inspect.isclass(thing)
    for base in thing.__mro__
    for method, function in vars(base).items()
    if inspect.isfunction(function)
}
TOLD_AS_ATTRIBUTES = {"Outcome", "State", "Equations"}  # which nobody builds by hand
TOLD_IN_A_SENTENCE = {"Frame.vector", "Frame.point", "Model.check_letter", "Motion.of_run"}


def documented(text):
    """Names under Args (or Attributes), by Google's rules."""
    section = re.search(r"^(?:Args|Attributes):\n((?:    .*\n?|\n)+)", text, re.MULTILINE)
    return re.findall(r"^    (\w+(?:, \w+)*): ", section.group(1), re.MULTILINE) if section else []


@pytest.mark.parametrize("name", CALLABLES)
def test_every_argument_is_documented(name):
    """All arguments of functions and classes under Args; those of short methods may be told in their one sentence."""
    thing = CALLABLES[name]
    text = inspect.getdoc(thing) or ""
    assert text, f"{name} has no docstring"
    if inspect.isclass(thing) and (issubclass(thing, Exception) or name in TOLD_AS_ATTRIBUTES):
        return
    given = [p for p in inspect.signature(thing).parameters if p not in ("self", "cls")]
    if "Arguments as for `" in text:
        other = re.search(r"Arguments as for `([\w.]+)`", text).group(1)
        text = inspect.getdoc(INHERITED[other] if "." in other else CALLABLES[other])
    told = {word for entry in documented(text) for word in entry.split(", ")}
    if "." in name and not told:
        assert len(given) <= 2 or name in TOLD_IN_A_SENTENCE
        return
    missing = [p for p in given if p not in told]
    assert not missing, f"{name} does not say what {', '.join(missing)} is"


@pytest.mark.parametrize(
    "name", ["simulate", "derive", "compile", "verify", "load", "Model", "RigidBody", "Event", "Rolling"]
)
def test_the_main_verbs_tell_their_arguments_in_order(name):
    assert documented(inspect.getdoc(getattr(ap, name))) == list(inspect.signature(getattr(ap, name)).parameters)


def modules():
    return sorted(m.name for m in pkgutil.walk_packages([str(SOURCE)], "appell.") if m.name != "appell.__main__")


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings_run(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def test_there_are_examples_in_docstrings():
    finder = doctest.DocTestFinder()
    examples = sum(len(test.examples) for name in modules() for test in finder.find(importlib.import_module(name)))
    assert examples > 15


def test_importing_appell_loads_no_engine():
    code = (
        "import sys, appell; appell.__all__; dir(appell); appell.library.names()\n"
        f"print(*[m for m in {ENGINES!r} if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == ""


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import appell as ap; ap.Model", "casadi heyoka xarray matplotlib scipy"),
        ("import appell as ap; ap.derive(ap.library.rolling_disk())", "scipy heyoka xarray matplotlib pandas"),
        (
            "import appell as ap; system = ap.compile(ap.derive(ap.library.rolling_disk())).bind()\n"
            "ap.simulate(system, until=1.0, method='dop853').check(); ap.equilibrium(ap.library.four_bar())",
            "scipy heyoka xarray matplotlib pandas",
        ),
        ("import appell.cli", "sympy casadi heyoka xarray matplotlib"),
    ],
)
def test_engines_come_when_they_are_needed(code, absent):
    code = f"import sys; {code}\nprint(*[m for m in {absent.split()!r} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == ""


def test_type_checkers_are_told_that_there_are_types():
    assert (SOURCE / "py.typed").exists()


def test_no_file_is_too_long():
    lengths = {str(p.relative_to(SOURCE)): len(p.read_text().splitlines()) for p in SOURCE.rglob("*.py")}
    assert {name: n for name, n in lengths.items() if n > 600} == {}
    assert sorted(lengths.values())[len(lengths) // 2] <= 250


def test_no_file_hides_behind_a_name_that_says_nothing():
    empty = {"utils", "helpers", "common", "misc", "core", "manager"}
    assert not [p for p in SOURCE.rglob("*.py") if p.stem in empty]


def test_public_functions_take_no_loose_keywords():
    for name, thing in CALLABLES.items():
        try:
            parameters = inspect.signature(thing).parameters.values()
        except ValueError:
            continue
        if inspect.isclass(thing) and issubclass(thing, Exception):
            continue
        assert not [p for p in parameters if p.kind is p.VAR_KEYWORD], name


def test_a_class_is_abstract_or_nothing_of_it_is_overridden():
    """Whoever reads a method of a class that can be made has read what runs; only making and showing are one's own."""
    classes = {
        node.name: node
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    }
    methods = {name: {e.name for e in c.body if isinstance(e, ast.FunctionDef)} for name, c in classes.items()}
    own = {"__init__", "__new__", "__repr__", "__getnewargs_ex__"}
    for name, node in classes.items():
        for base in (e.id for e in node.bases if isinstance(e, ast.Name)):
            if base in classes and not base.startswith("Abstract"):
                assert not methods[name] & methods[base] - own, f"{name} overrides what {base} does"


def test_names_are_spelt_one_way():
    """linearize, stabilize, optimize, center; sentences may be British."""
    british = re.compile(r"(al|il|im|ear|ogn|mar|ret)is(e|ed|es|ing|ation)(_|$)|centre|colour|behaviour", re.IGNORECASE)
    nodes = (node for path in SOURCE.rglob("*.py") for node in ast.walk(ast.parse(path.read_text())))
    names = {getattr(node, "name", None) or getattr(node, "arg", None) for node in nodes}
    assert not [name for name in names if name and british.search(name)]


def test_formulations_print_as_they_are_written():
    x, w = ap.coordinates("x"), ap.speeds("w")
    assert repr(ap.GibbsAppell()) == "GibbsAppell()"
    assert repr(ap.GPME(1, stabilize=(5, 5), literal="Q")) == "GPME(order=1, stabilize=(5, 5), literal=('Q',))"
    assert (
        repr(ap.QuasiAccelerations({w: x.rate}, {w.rate: w}))
        == "QuasiAccelerations(speeds={w: x'}, accelerations={w': w})"
    )
    assert repr(ap.GibbsAppell({w: 2 * x.rate}, dependent=x)) == "GibbsAppell(speeds={w: 2*x'}, dependent=(x,))"
    assert repr(ap.HigherOrder(3)) == "HigherOrder(order=3)"


def test_every_source_is_in_the_list_of_references():
    """What docstrings and pages of theory cite, `Author 1900`, is told in full on one page."""

    def plain(text):
        return unicodedata.normalize("NFKD", text.replace("ł", "l")).encode("ascii", "ignore").decode()

    listed = re.sub(r"\s+", " ", plain((ROOT / "docs" / "references.md").read_text()))
    cited = {
        f"{author} {year}"
        for path in (*SOURCE.rglob("*.py"), *(ROOT / "docs" / "theory").glob("*.md"))
        for words in re.findall(r"References?: (.*?)(?:\n\s*\n|\"\"\"|$)", path.read_text(), re.DOTALL)
        for author, year in re.findall(r"([A-Z][\w-]+|et\s+al\.) (\d{4})", plain(words))
    }
    assert len(cited) > 60
    assert sorted(e for e in cited if f"{e}." not in listed) == []


def test_what_one_makes_says_what_it_is():
    """No object of the public surface shows itself by its address in memory."""
    arm, x = ap.library.planar_2r(), ap.coordinates("x")
    law = ap.control.ComputedTorque(arm, 5.0, integral=1.0)
    assert repr(law) == "ComputedTorque of 'planar 2R' by tau1, tau2 at samples"
    assert repr(ap.friction.Viscous(x, 3)) == "Viscous 'viscous friction': 3*x' against x'"
    move = ap.higher_order.polynomial([0.0, 0.0], [1.0, -0.5], duration=1.0)
    assert repr(ap.higher_order.Profile(ap.higher_order.Dynamics(arm), move, order=1)).startswith(
        "Profile of 'planar 2R': tau, tau'\n  Trajectory of 2 joints"
    )
    course = ap.control.Reference.of({x: ap.t**2}, [x])
    assert [repr(e) for e in (course, ap.control.Reference(lambda t: t, 0.0, 2.0))] == [
        "Reference at all times", "Reference, t = 0 .. 2 s",
    ]  # fmt: skip
