// Reads addresses as the page does. In: a JSON list of {url, how}; out: their plans.
import { readFragment } from "../../../site/page/address.js";
import { planOf } from "../../../site/page/plan.js";
import { queryOf } from "../../../site/panel/accounting.js";
import { canaryPlan } from "../../../site/panel/canaryplan.js";

let text = "";
for await (const part of process.stdin) text += part;
const { catalogue, addresses } = JSON.parse(text);

function plan({ url, how }) {
  const { settings, account, canaries } = readFragment(url);
  if (account) return queryOf(catalogue.accounts.find((a) => a.kind === account.kind), account.texts);
  if (!canaries) return planOf(settings, catalogue.mechanisms.find((m) => m.name === settings.mechanism));
  const source = catalogue.sources.find((s) => s.name === canaries.source);
  const shown = how === "one" ? { design: source.oneRunDesign, ...canaries, one: canaries.m } : canaries; // as CanaryForm.read does
  const design = source.designs.find((d) => d.name === shown.design) ?? source.designs[0];
  return canaryPlan(how, source, (name) => shown[name] ?? "", true, design);
}
console.log(JSON.stringify(addresses.map(plan)));
