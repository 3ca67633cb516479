import { text } from 'node:stream/consumers'
import { redirectHosts } from './redirectHosts.mjs'

/*
 * Published clients, and the published servers that they buy from, in a process of their own. Reads scenes from stdin and
 * writes a line for each, in order: `bought`, and in JSON what the client received for each family.
 */

const scenes = JSON.parse(await text(process.stdin))
const { facilitatorUrl } = scenes[0]
const { evm } = scenes.map(({ families }) => families).find((families) => families.evm !== undefined) ?? {}
const isFetchReplaced = redirectHosts({ facilitatorUrl, evm })

const decode = (receipt) => {
  if (receipt === null || receipt === undefined) return null
  return typeof receipt === 'string' ? JSON.parse(Buffer.from(receipt, 'base64').toString('utf8')) : receipt
}
const describe = (error) => String(error?.stack ?? error)

const purchase = async (buy, url, family) => {
  try {
    const { status, body, receipt } = await buy(`${url}/${family}`, family)
    return { status, body, receipt: decode(receipt) }
  } catch (error) {
    return { error: describe(error) }
  }
}

const buyAll = async (scene) => {
  const [{ openShop }, { createBuyer }] = await Promise.all([
    import(`./servers/${scene.server}.mjs`),
    import(`./clients/${scene.client}.mjs`),
  ])
  const { url, collect } = await openShop(scene)
  const buy = await createBuyer(scene)
  const purchases = {}
  for (const family of Object.keys(scene.families)) purchases[family] = await purchase(buy, url, family)
  // Of schemes that pay the payee later.
  await collect?.()
  if (isFetchReplaced()) throw new Error('A package replaced fetch, which it shares with other pairs')
  return purchases
}

for (const scene of scenes) {
  // A pair that fails does not keep the others from buying.
  const fail = (error) =>
    Object.fromEntries(Object.keys(scene.families).map((family) => [family, { error: describe(error) }]))
  const bought = await buyAll(scene).catch(fail)
  await new Promise((resolve) => process.stdout.write(`\nbought ${JSON.stringify(bought)}\n`, resolve))
}
process.exit(0)
