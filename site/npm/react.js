// The types are all there is to import: import type {} from "dpscope/react".
export {};
