// Types of <dp-audit> in React's markup: import type {} from "dpscope/react".
import type { ClassAttributes, HTMLAttributes } from "react";
import type { DPAuditAttributes, DPAuditElement, DPAuditEventMap } from "./dp-audit.js";

/** Listeners, as React 19 names them: onEVENT. */
type Listeners = { [name in keyof DPAuditEventMap as `on${name}`]?: (event: DPAuditEventMap[name]) => void };

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "dp-audit": Omit<HTMLAttributes<DPAuditElement>, keyof DPAuditAttributes> & ClassAttributes<DPAuditElement> & DPAuditAttributes & Listeners;
    }
  }
}
