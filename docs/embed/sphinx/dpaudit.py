"""Audits with dpscope in Sphinx.

In conf.py: extensions = ["dpaudit"], dp_audit_site = "https://dpscope.example/".

    .. dp-audit:: svt4
       :epsilon: 1
       :samples: 20000

The options are the element's attributes. Other builders than HTML show nothing.
"""

from html import escape
from urllib.parse import urlencode

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


class AnyOption(dict):
    def __bool__(self):
        return True

    def __missing__(self, name):
        return lambda text: text or ""


class DPAudit(SphinxDirective):
    required_arguments = 1
    option_spec = AnyOption()

    def run(self):
        settings = {"mechanism": self.arguments[0], **self.options}
        attributes = "".join(f' {name}="{escape(value)}"' for name, value in settings.items())
        link = f"{self.config.dp_audit_site}index.html#{urlencode({'v': 1, **settings})}"
        words = f"Audit of {settings['mechanism']} with dpscope"
        html = f'<dp-audit{attributes}><a href="{escape(link)}">{escape(words)}</a></dp-audit>'
        return [nodes.raw("", html, format="html")]


def setup(app):
    app.add_config_value("dp_audit_site", "", "html")
    app.add_directive("dp-audit", DPAudit)
    app.connect(
        "builder-inited",
        lambda app: app.add_js_file(f"{app.config.dp_audit_site}dp-audit.js", loading_method="defer"),
    )
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
