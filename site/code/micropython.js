import { loadMicroPython } from "@micropython/micropython-webassembly-pyscript/micropython.mjs";
globalThis.dpscopePython = { loadMicroPython };
