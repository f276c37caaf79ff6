"""Where the methods come from, as BibTeX."""

from __future__ import annotations

import re
from typing import Any

ENTRIES = {
    "Appell 1900": ("article", "appell1900", {
        "author": "Appell, Paul", "title": "Sur une forme g{\\'e}n{\\'e}rale des {\\'e}quations de la dynamique",
        "journal": "Journal f{\\\"u}r die reine und angewandte Mathematik", "volume": "121", "pages": "310--319",
        "year": "1900"}),
    "Gibbs 1879": ("article", "gibbs1879", {
        "author": "Gibbs, Josiah Willard", "title": "On the fundamental formulae of dynamics",
        "journal": "American Journal of Mathematics", "volume": "2", "pages": "49--64", "year": "1879"}),
    "Qiao 1990": ("article", "qiao1990", {
        "author": "Qiao, Yong-fen",
        "title": "{Gibbs--Appell}'s equations of variable mass nonlinear nonholonomic mechanical systems",
        "journal": "Applied Mathematics and Mechanics", "volume": "11", "year": "1990"}),
    "Voronets 1901": ("article", "voronets1901", {
        "author": "Voronets, P. V.", "title": "On the equations of motion of nonholonomic systems",
        "journal": "Matematicheskii Sbornik", "volume": "22", "pages": "659--686", "year": "1901",
        "note": "in Russian"}),
    "Neimark and Fufaev 1972": ("book", "neimark1972", {
        "author": "Neimark, Ju. I. and Fufaev, N. A.", "title": "Dynamics of Nonholonomic Systems",
        "publisher": "American Mathematical Society", "series": "Translations of Mathematical Monographs",
        "number": "33", "year": "1972"}),
    "Lagrange 1788": ("book", "lagrange1788", {
        "author": "Lagrange, Joseph-Louis", "title": "M{\\'e}chanique analitique", "address": "Paris",
        "year": "1788"}),
    "Chetaev 1932": ("article", "chetaev1932", {
        "author": "Chetaev, N. G.", "title": "On {Gauss}' principle",
        "journal": "Izvestiya Fiziko-Matematicheskogo Obshchestva pri Kazanskom Universitete", "volume": "6",
        "pages": "68--71", "year": "1932", "note": "in Russian"}),
    "Udwadia and Kalaba 1992": ("article", "udwadia1992", {
        "author": "Udwadia, Firdaus E. and Kalaba, Robert E.", "title": "A new perspective on constrained motion",
        "journal": "Proceedings of the Royal Society of London A", "volume": "439", "pages": "407--410",
        "year": "1992"}),
    "Vereshchagin 1974": ("article", "vereshchagin1974", {
        "author": "Vereshchagin, A. F.",
        "title": "Computer simulation of the dynamics of complicated mechanisms of robot manipulators",
        "journal": "Engineering Cybernetics", "volume": "12", "number": "6", "pages": "65--70", "year": "1974"}),
    "Featherstone 1983": ("article", "featherstone1983", {
        "author": "Featherstone, Roy", "title": "The calculation of robot dynamics using articulated-body inertias",
        "journal": "International Journal of Robotics Research", "volume": "2", "pages": "13--30", "year": "1983"}),
    "Shulgin 1958": ("article", "shulgin1958", {
        "author": "Shulgin, M. F.",
        "title": "On some differential equations of analytical dynamics and their integration",
        "journal": "Proceedings of the Lenin Central Asian State University", "volume": "144", "year": "1958",
        "note": "in Russian"}),
    "Krasinskiy 2025": ("article", "krasinskiy2025", {
        "author": "Krasinskiy, A. Ya.",
        "title": "On the analytical mechanics methods in mathematical modeling the dynamics systems with geometric "
                 "constraints",
        "journal": "Mechanical Engineering Advances", "volume": "3", "number": "2", "pages": "2512", "year": "2025"}),
    "Lyapunov": ("book", "lyapunov", {
        "author": "Lyapunov, A. M.", "title": "Lectures on Theoretical Mechanics", "note": "in Russian"}),
    "Jarzebowska 2008": ("article", "jarzebowska2008", {
        "author": "Jarz{\\k{e}}bowska, El{\\.z}bieta",
        "title": "Advanced programmed motion tracking control of nonholonomic mechanical systems",
        "journal": "IEEE Transactions on Robotics", "volume": "24", "pages": "1315--1328", "year": "2008"}),
    "Jarzebowska et al.": ("misc", "jarzebowska", {
        "author": "Jarz{\\k{e}}bowska, El{\\.z}bieta and others",
        "title": "Motion planning for task-based motions of mechanical systems"}),
    "Negrean et al. 2025": ("misc", "negrean2025", {
        "author": "Negrean, Iuliu and Crisan, Adina and others",
        "title": "The role of mass distribution, higher-order acceleration energies and generalized forces in the "
                 "advanced dynamics", "year": "2025", "note": "preprint"}),
    "sympy": ("article", "sympy2017", {
        "author": "Meurer, Aaron and others", "title": "{SymPy}: symbolic computing in {Python}",
        "journal": "PeerJ Computer Science", "volume": "3", "pages": "e103", "year": "2017"}),
    "casadi": ("article", "casadi2019", {
        "author": "Andersson, Joel A. E. and Gillis, Joris and Horn, Greg and Rawlings, James B. and Diehl, Moritz",
        "title": "{CasADi}: a software framework for nonlinear optimization and optimal control",
        "journal": "Mathematical Programming Computation", "volume": "11", "pages": "1--36", "year": "2019"}),
    "taylor": ("article", "heyoka2021", {
        "author": "Biscani, Francesco and Izzo, Dario",
        "title": "Revisiting high-order {Taylor} methods for astrodynamics and celestial mechanics",
        "journal": "Monthly Notices of the Royal Astronomical Society", "volume": "504", "pages": "2614--2628",
        "year": "2021"}),
    "dop853": ("book", "hairer1993", {
        "author": "Hairer, Ernst and N{\\o}rsett, Syvert P. and Wanner, Gerhard",
        "title": "Solving Ordinary Differential Equations {I}: Nonstiff Problems", "edition": "2nd",
        "publisher": "Springer", "year": "1993"}),
    "cvodes": ("article", "sundials2005", {
        "author": "Hindmarsh, Alan C. and others",
        "title": "{SUNDIALS}: suite of nonlinear and differential/algebraic equation solvers",
        "journal": "ACM Transactions on Mathematical Software", "volume": "31", "pages": "363--396",
        "year": "2005"}),
    "scipy": ("article", "scipy2020", {
        "author": "Virtanen, Pauli and others",
        "title": "{SciPy} 1.0: fundamental algorithms for scientific computing in {Python}",
        "journal": "Nature Methods", "volume": "17", "pages": "261--272", "year": "2020"}),
}  # fmt: skip
"""Sources by the words that a formulation's `reference` uses, and programs by their names."""


def bibtex(formulation: Any, method: str = "") -> str:
    """Entries for the principle, the integrator and the engines behind a result.

    Args:
        formulation: The principle, whose `reference` names its sources.
        method: The integrator's name.
    """
    keys: list[str] = []
    for words in formulation.reference.split(";"):
        name = re.match(r"\s*(.+?\d{4})", words)
        keys.append(name.group(1) if name else words.strip())
    if formulation.name == "Gibbs-Appell":
        keys.insert(0, "Gibbs 1879")
    integrator = {"taylor": "taylor", "dop853": "dop853", "cvodes": "cvodes"}.get(method, "scipy" if method else "")
    keys += [integrator] if integrator else []
    return "\n\n".join(_entry(*ENTRIES.get(e) or _noted(e)) for e in dict.fromkeys((*keys, "casadi", "sympy")))


def _noted(words: str) -> tuple[str, str, dict[str, str]]:
    """A source of which only the words are known: that of a formulation of your own."""
    return "misc", re.sub(r"\W+", "", words.lower()) or "source", {"note": words}


def _entry(kind: str, label: str, fields: dict[str, str]) -> str:
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@{kind}{{{label},\n{lines}\n}}"
