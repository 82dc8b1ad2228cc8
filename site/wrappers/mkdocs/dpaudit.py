"""Audits with dpscope in MkDocs (1.4 or later), as a hook.

In mkdocs.yml:

    hooks: [dpaudit.py]
    extra:
      dp_audit_site: /dpscope/

In a page, a fenced block; its lines are the element's attributes:

    ```dp-audit
    mechanism: svt4
    epsilon: 1
    samples: 20000
    recorded: svt4.svg
    ```

``recorded`` names a file of the docs folder, from the page or from the root with a
leading slash, or an address. The page has the verdict as a picture or in words too, for
readers without scripts.
"""

from __future__ import annotations

import json
import posixpath
import re
from html import escape
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from mkdocs.exceptions import PluginError

FENCE = re.compile(r"^( {0,3})(`{3,}|~{3,})\s*([^`]*?)\s*$")
NAME = re.compile(r"^[a-z][a-z0-9._-]*$")
SWITCHES = ("until-refuted", "fixed", "sequential", "autorun", "readonly")
OPTIONS = ("recorded", "controls", "view", "theme", "autorun", "readonly", "site", "workers")


def site_of(config: Any) -> str:
    site = (config["extra"] or {}).get("dp_audit_site", "")
    if not site:
        raise PluginError("dp_audit_site is absent from extra in mkdocs.yml: set it to the address of your copy of dpscope, such as /dpscope/.")
    return str(site).rstrip("/") + "/"


def on_config(config: Any, **_: Any) -> Any:
    config["extra_javascript"].append(site_of(config) + "dp-audit.js")
    return config


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any, **_: Any) -> str:
    """Puts the element in the place of every fenced block that is called dp-audit."""
    out: list[str] = []
    block: list[str] | None = None  # lines of the audit that is open
    fence, begun = "", 0  # of the block that is open, whatever it holds
    for number, line in enumerate(markdown.splitlines(), 1):
        found = FENCE.match(line)
        if fence:
            closes = found and not found[3] and found[2][0] == fence[0] and len(found[2]) >= len(fence)
            if closes:
                fence = ""
            if block is None:
                out.append(line)
            elif closes:
                out += ["", element(block, begun, page, config, files), ""]
                block = None
            else:
                block.append(line)
            continue
        if found:
            fence, begun = found[2], number
            if found[3] == "dp-audit":
                block = []
                continue
        out.append(line)
    if block is not None:
        raise PluginError(f"{page.file.src_path}: the block dp-audit in line {begun} is not closed.")
    return "\n".join(out)


def element(lines: list[str], begun: int, page: Any, config: Any, files: Any) -> str:
    where = f"{page.file.src_path}: the block dp-audit in line {begun}"
    settings: dict[str, str] = {}
    for line in filter(str.strip, lines):
        name, colon, value = line.partition(":")
        name = name.strip()
        if not NAME.match(name) or not (colon or name in SWITCHES):
            raise PluginError(f'{where} holds "{line.strip()}", must be lines "name: value", such as "epsilon: 1".')
        settings[name] = value.strip()
    subject = settings.get("mechanism") or settings.get("source")
    if not subject:
        raise PluginError(f'{where} names no mechanism: add a line such as "mechanism: svt4".')
    link = link_of(site_of(config), settings)
    words, inside = f"Audit of {subject} with dpscope", ""
    recorded = settings.get("recorded", "")
    if recorded and not urlsplit(recorded).scheme and not recorded.startswith("//"):
        path = posixpath.normpath(posixpath.join("/", posixpath.dirname(page.file.src_path.replace("\\", "/")), recorded)).lstrip("/")
        file = files.get_file_from_path(path)
        if file is None:
            raise PluginError(f'{where}: recorded is "{recorded}", must be a file: there is no {path} in the docs folder. "dpscope audit ... -output {posixpath.basename(path)}" writes one.')
        settings["recorded"] = file.url_relative_to(page.file)
        if path.endswith(".json"):
            inside = f"<p>{escape(verdict_of(where, file.abs_src_path))}</p>"
        else:
            inside = f'<img src="{escape(settings["recorded"])}" alt="{escape(words)}, as recorded">'
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in settings.items())
    return f'<div>\n<dp-audit{attributes}>{inside}<p><a href="{escape(link)}">{escape(words)}</a></p></dp-audit>\n</div>'


def link_of(site: str, settings: dict[str, str]) -> str:
    """The page's address at the settings, without what only the element takes."""
    query = {"v": "1"}
    for name, value in settings.items():
        if name not in OPTIONS or (name == "view" and value == "canaries"):
            query[name] = "true" if name in SWITCHES and not value else value
    return f"{site}index.html#{urlencode(query, quote_via=quote)}"


def verdict_of(where: str, path: str) -> str:
    try:
        with open(path, encoding="utf-8") as report:
            return f"Recorded: {json.load(report)['headline']}"
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise PluginError(f"{where}: {path} holds no report of dpscope; write it with dpscope audit -format json.") from fault
