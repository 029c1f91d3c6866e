"""``kb glossary add``, ``list``, ``show``: the terms that search translates."""

from __future__ import annotations

from typing import Annotated

import typer

from kb.cli.output import JsonOption, print_json, say
from kb.workspace import find_workspace

app = typer.Typer(no_args_is_help=True, help="The terms that search translates between Chinese and English.")


@app.command()
def add(
    chinese: Annotated[str, typer.Argument(metavar="CHINESE", help="The Chinese term.")],
    english: Annotated[str, typer.Argument(metavar="ENGLISH", help="Its English; more forms after semicolons.")],
) -> None:
    """Add a term to notes/glossary.tsv; search uses it from then on, and before the built-in ones."""
    from kb.search.glossary import add_term

    workspace = find_workspace()
    if add_term(workspace, chinese, english):
        print(f"{chinese}  {english}")
        say(f"added to {workspace.glossary}")
    else:
        say(f"already there: {chinese} is translated so, nothing was changed")


@app.command("list")
def list_terms(
    match: Annotated[str | None, typer.Option(metavar="TEXT", help="Only terms with this in either language.")] = None,
    own: Annotated[bool, typer.Option("--own", help="Only the terms of this workspace.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List terms: Chinese, English, and whether the term is this workspace's own or built in."""
    from kb.search.glossary import load_glossary

    glossary = load_glossary(find_workspace())
    found = [term for term in glossary.matching(match or "") if term.own or not own]
    if as_json:
        print_json([{"chinese": term.chinese, "english": term.english, "own": term.own} for term in found])
        return
    for term in found:
        print(f"{term.chinese}\t{'; '.join(term.english)}\t{'own' if term.own else 'built in'}")
    if not found:
        say('no such term; kb glossary add 信用分配 "credit assignment" adds one')


@app.command()
def show(
    text: Annotated[str, typer.Argument(metavar="TERM", help="A term or a whole question, Chinese or English.")],
    as_json: JsonOption = False,
) -> None:
    """Show how search translates a term or a question, and which words it does not know."""
    from kb.search.glossary import load_glossary
    from kb.search.tokens import has_han
    from kb.search.translate import translate, translate_to_chinese

    glossary = load_glossary(find_workspace())
    found = translate(text, glossary) if has_han(text) else translate_to_chinese(text, glossary)
    if as_json:
        print_json({"text": found.text, "terms": dict(found.terms), "untranslated": found.untranslated})
        return
    for term, forms in found.terms:
        print(f"{term}\t{'; '.join(forms)}")
    if found.terms:
        say(f"as a question: {found.text}")
    if found.untranslated:
        say(f"not translated: {', '.join(found.untranslated)}   (kb glossary add CHINESE ENGLISH adds a term)")
    if not found.terms and not found.untranslated:
        say("nothing in it to translate")
