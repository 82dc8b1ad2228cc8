// Reads addresses as the page does. In: a JSON list of addresses, and what there is to
// account for; out: the texts that the core gets.
import { readFragment } from "../../../site/page/address.js";
import { asked } from "../../../site/page/plan.js";
import * as accounting from "../../../site/panel/accounting.js";

let text = "";
for await (const part of process.stdin) text += part;
const { accounts, addresses } = JSON.parse(text);

function texts(url) {
  const { settings, account } = readFragment(url);
  return account ? accounting.asked(accounts.find((a) => a.kind === account.kind), account.texts) : asked(settings);
}
console.log(JSON.stringify(addresses.map(texts)));
