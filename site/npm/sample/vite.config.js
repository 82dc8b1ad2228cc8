import dpscope from "dpscope/vite";
import { defineConfig } from "vite";

export default defineConfig({ base: "./", plugins: [dpscope()], build: { target: "es2022" } });
