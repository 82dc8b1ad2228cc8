import type { DPAuditReport } from "dpscope";
import type {} from "dpscope/react";

/** The element in React's markup: settings, events and what every element has. */
export const audit = (told: (report: DPAuditReport) => void) => (
  <dp-audit className="wide" mechanism="svt4" epsilon={1} until-refuted controls="none" {...{ "p.c": 2 }} ondpaudit-result={({ detail }) => told(detail.report)}>
    <a href="https://dpscope.example/">Audit of svt4</a>
  </dp-audit>
);

// @ts-expect-error: no such view
export const wrong = <dp-audit view="none of them" />;
// @ts-expect-error: no such attribute
export const misspelt = <dp-audit mechansim="svt4" />;
