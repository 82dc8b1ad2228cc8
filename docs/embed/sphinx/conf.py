import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "Audits in Sphinx"
extensions = ["dpaudit"]
dp_audit_site = "/dpscope/"
