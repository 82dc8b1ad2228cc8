import createPyodideModule from "pyodide/pyodide.asm.mjs";
import { loadPyodide } from "pyodide/pyodide.mjs";
globalThis.dpscopePython = { loadPyodide, createPyodideModule };
