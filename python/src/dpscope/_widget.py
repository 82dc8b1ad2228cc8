"""The instrument in a notebook."""

from __future__ import annotations

import html
import json
import uuid
from pathlib import Path
from typing import Any, Dict

#: Where a notebook's server has the files that the wheel installed below share/jupyter.
_SITE = "nbextensions/dpscope/"
_MODULE = Path(__file__).parent / "widget.js"


class Instrument:
    """The instrument, which audits mechanisms that dpscope knows in the browser::

        dpscope.Instrument("svt4", epsilon=1)

    Settings are the attributes of <dp-audit>, with _ for -. ``site`` is the folder of
    dpscope's page; by default the one that the wheel brought to the notebook's server, so
    no network is needed. For anywidget, ``_esm`` is its module and :meth:`state` what the
    module reads.
    """

    _esm = _MODULE

    def __init__(self, mechanism: str, *, site: str = "", **settings: Any) -> None:
        self.site = site
        self.settings: Dict[str, Any] = {"mechanism": mechanism, **settings}

    def state(self) -> Dict[str, Any]:
        """What the module reads of its model."""
        return {"site": self.site, "settings": self.settings, "headline": "", "picture": ""}

    def _repr_html_(self) -> str:
        """A cell's output, which renders the module without a widget manager."""
        name = "dpscope-" + uuid.uuid4().hex
        state = json.dumps(self.state()).replace("<", "\\u003c")
        module = _MODULE.read_text().replace("</", "<\\/")
        return (
            f'<div id="{name}"><p>{html.escape(str(self.settings["mechanism"]))}: the instrument needs the scripts of a trusted notebook.</p></div>'
            f'<script type="module">{module}\n'
            f"const state = {state};\n"
            f'state.site ||= (document.body.dataset.baseUrl ?? "/") + "{_SITE}";\n'
            f'render({{ model: {{ get: (key) => state[key] }}, el: document.getElementById("{name}") }});</script>'
        )

    def __repr__(self) -> str:
        return f"dpscope.Instrument({', '.join([repr(self.settings['mechanism'])] + [f'{k}={v!r}' for k, v in list(self.settings.items())[1:]])})"
