import { defined, type DPAuditElement, type DPAuditReport } from "dpscope";

await defined;
const audit = document.querySelector("dp-audit")!; // a DPAuditElement, without a cast
audit.addEventListener("dpaudit-progress", ({ detail }) => {
  document.title = `${"rows" in detail ? detail.rows : detail.runs} of ${detail.total}`;
});
audit.theme = "light";
const report: DPAuditReport = await audit.run();
document.title = report.headline;

/** What the compiler must refuse; nobody calls it. */
export function wrong(audit: DPAuditElement) {
  // @ts-expect-error: no setting has this value
  audit.view = "none of them";
  // @ts-expect-error: a verdict is none of this
  const no: "fine" = audit.report!.verdict;
  return no;
}
