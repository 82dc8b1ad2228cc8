"""What a notebook shows."""

import json
import re

import dpscope


def test_instrument():
    i = dpscope.Instrument("svt4", epsilon=1, until_refuted=True)
    assert repr(i) == "dpscope.Instrument('svt4', epsilon=1, until_refuted=True)"
    page = i._repr_html_()
    state = json.loads(re.search(r"const state = (.*);\n", page).group(1))
    assert state["settings"] == {"mechanism": "svt4", "epsilon": 1, "until_refuted": True}
    assert i._esm.read_text() in page and page.count("</script>") == 1


def test_what_comes_from_the_user_is_text():
    page = dpscope.Instrument("</script><b>", title="</script>")._repr_html_()
    assert page.count("</script>") == 1 and "<b>" not in page
