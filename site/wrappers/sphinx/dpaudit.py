"""Audits with dpscope in Sphinx (5.3 or later).

In conf.py: extensions = ["dpaudit"], dp_audit_site = "/dpscope/".

    .. dp-audit:: svt4
       :epsilon: 1
       :samples: 20000
       :recorded: svt4.svg

The options are the element's attributes. ``recorded`` names a file beside the page,
or from the source folder with a leading slash, or an address. The HTML has the verdict
as a picture or in words too, for readers without scripts; other builders have a link.
"""

from __future__ import annotations

import json
import posixpath
import shutil
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri

logger = logging.getLogger(__name__)

SWITCHES = ("until-refuted", "fixed", "sequential", "autorun", "readonly")
OPTIONS = ("recorded", "controls", "view", "theme", "autorun", "readonly", "site", "workers")


class AnyOption(dict):
    """Takes every option: the element names those that it does not know."""

    def __bool__(self) -> bool:
        return True

    def __missing__(self, name: str) -> Any:
        return lambda text: text or ""


class dp_audit(nodes.General, nodes.Element):
    """An audit: its attributes, and the recorded file where it is one of the sources."""


class DPAudit(SphinxDirective):
    required_arguments = 1
    option_spec = AnyOption()

    def run(self) -> list[nodes.Node]:
        if not self.config.dp_audit_site:
            raise self.error('dp_audit_site is empty in conf.py: set it to the address of your copy of dpscope, such as "/dpscope/".')
        settings = {"mechanism": self.arguments[0], **self.options}
        node = dp_audit(settings=settings, file="", fallback="")
        recorded = settings.get("recorded", "")
        if recorded and not urlsplit(recorded).scheme and not recorded.startswith("//"):
            _, path = self.env.relfn2path(recorded)
            if not Path(path).is_file():
                raise self.error(f'recorded is "{recorded}", must be a file: there is no {path}. "dpscope audit ... -output {Path(path).name}" writes one.')
            self.env.note_dependency(path)
            node["file"] = path
        self.set_source_info(node)
        return [node]


def link_of(site: str, settings: dict[str, str]) -> str:
    """The page's address at the settings, without what only the element takes."""
    query = {"v": "1"}
    for name, value in settings.items():
        if name not in OPTIONS or (name == "view" and value == "canaries"):
            query[name] = "true" if name in SWITCHES and not value else value
    return f"{site}index.html#{urlencode(query, quote_via=quote)}"


def verdict_of(path: str) -> str:
    """The verdict in words, of a report; else empty."""
    if not path.endswith(".json"):
        return ""
    try:
        headline = json.loads(Path(path).read_text(encoding="utf-8"))["headline"]
    except (OSError, ValueError, KeyError, TypeError):
        logger.warning("%s holds no report of dpscope; write it with dpscope audit -format json", path)
        return ""
    return f"Recorded: {headline}"


def words_of(settings: dict[str, str]) -> str:
    return f"Audit of {settings['mechanism']} with dpscope"


def visit_html(self: Any, node: dp_audit) -> None:
    builder = self.builder
    site = builder.config.dp_audit_site.rstrip("/") + "/"
    settings = dict(node["settings"])
    words, inside = words_of(settings), ""
    if node["file"]:
        source = Path(node["file"])
        name = f"{sha256(source.read_bytes()).hexdigest()[:8]}-{source.name}"
        to = Path(builder.outdir) / "_static" / "dp-audit" / name
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, to)
        target = posixpath.join("_static", "dp-audit", quote(name))
        settings["recorded"] = relative_uri(builder.get_target_uri(builder.current_docname), target)
        verdict = verdict_of(node["file"])
        if verdict:
            inside = f"<p>{escape(verdict)}</p>"
        elif source.suffix != ".json":
            inside = f'<img src="{escape(settings["recorded"])}" alt="{escape(words)}, as recorded">'
    attributes = "".join(f' {escape(name)}="{escape(value)}"' for name, value in settings.items())
    link = escape(link_of(site, node["settings"]))
    self.body.append(f'<dp-audit{attributes}>{inside}<p><a href="{link}">{escape(words)}</a></p></dp-audit>\n')
    raise nodes.SkipNode


def visit_other(self: Any, node: dp_audit) -> None:
    raise nodes.SkipNode


def link_elsewhere(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Builders that are not HTML get a link."""
    if app.builder.format == "html":
        return
    for node in list(doctree.findall(dp_audit)):
        link = link_of(app.config.dp_audit_site.rstrip("/") + "/", node["settings"])
        words = words_of(node["settings"])
        node.replace_self(nodes.paragraph("", "", nodes.reference("", words, refuri=link)))


def add_script(app: Sphinx) -> None:
    if app.config.dp_audit_site:
        app.add_js_file(app.config.dp_audit_site.rstrip("/") + "/dp-audit.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("dp_audit_site", "", "html")
    app.add_node(dp_audit, html=(visit_html, None), latex=(visit_other, None), text=(visit_other, None), man=(visit_other, None), texinfo=(visit_other, None))
    app.add_directive("dp-audit", DPAudit)
    app.connect("builder-inited", add_script)
    app.connect("doctree-resolved", link_elsewhere)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}
