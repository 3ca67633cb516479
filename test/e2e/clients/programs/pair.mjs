import { text } from 'node:stream/consumers'
import { redirectHosts } from './redirectHosts.mjs'

/*
 * One published server and one published client in a process of their own. Reads a scene from stdin and writes one
 * line of JSON: what the client received for each family.
 */

const scene = JSON.parse(await text(process.stdin))
redirectHosts(scene)
const [{ openShop }, { createBuyer }] = await Promise.all([
  import(`./servers/${scene.server}.mjs`),
  import(`./clients/${scene.client}.mjs`),
])
const shop = await openShop(scene)
const buy = await createBuyer(scene)

const decode = (receipt) => {
  if (receipt === null || receipt === undefined) return null
  return typeof receipt === 'string' ? JSON.parse(Buffer.from(receipt, 'base64').toString('utf8')) : receipt
}

const purchases = {}
for (const family of Object.keys(scene.families)) {
  try {
    const { status, body, receipt } = await buy(`${shop.url}/${family}`, family)
    purchases[family] = { status, body, receipt: decode(receipt) }
  } catch (error) {
    purchases[family] = { error: String(error?.stack ?? error) }
  }
}
process.stdout.write(`\n${JSON.stringify(purchases)}\n`, () => process.exit(0))
