import { z } from 'zod'
import { startDemoFacilitator } from './demoFacilitator.js'
import { formatAmount, type Narrator, silentNarrator } from './narrator.js'
import { buyReport } from './purchase.js'
import { openShop } from './shop.js'
import type { DemoWorld } from './world.js'
import { worlds } from './worlds/index.js'

interface AllFamiliesOptions {
  readonly narrator: Narrator
  readonly port: number
  readonly onClose: (close: () => Promise<unknown>) => void
}

const price = 10_000n
const supported = z.object({ kinds: z.array(z.object({ scheme: z.string(), network: z.string() })) })

/** One service with every chain family, and one purchase on each. */
export const showAllFamilies = async ({ narrator, port, onClose }: AllFamiliesOptions): Promise<void> => {
  narrator.title('Quittance: one service, every chain family')
  const opened: (readonly [string, DemoWorld])[] = []
  for (const [family, open] of Object.entries(worlds)) {
    const world = await open()
    onClose(world.close)
    opened.push([family, world])
    narrator.step(world.introduction)
  }

  const begun = performance.now()
  const facilitator = await startDemoFacilitator({
    port,
    environment: Object.assign({}, ...opened.map(([, { environment }]) => environment)),
    onLogLine: () => undefined,
    onClose,
  })
  const startMs = Math.round(performance.now() - begun)
  const { kinds } = supported.parse(await (await fetch(`${facilitator.url}/supported`)).json())
  narrator.step('The facilitator runs, with its embedded database', {
    url: facilitator.url,
    started: `in ${startMs} ms, database included`,
    memory: await readMemory(facilitator.url),
    networks: opened.map(([, { network }]) => network).join(', '),
    kinds: String(kinds.length),
  })

  narrator.title('A customer of each family buys a report for one cent')
  for (const [family, world] of opened) {
    const shop = await openShop({ port: 0, facilitatorUrl: facilitator.url, world })
    onClose(shop.close)
    const paidBefore = await world.balanceOf(world.merchant)
    const startedAt = performance.now()
    await buyReport({ url: `${shop.url}/report`, ...world }, silentNarrator)
    const received = (await world.balanceOf(world.merchant)) - paidBefore
    if (received !== price) throw new Error(`The merchant on ${family} received ${received}`)
    narrator.step(`${family.padEnd(9)} ${world.client.scheme}`, {
      network: world.network,
      merchant: `${world.merchant}  +${formatAmount(received, world.symbol)}`,
      time: `${Math.round(performance.now() - startedAt)} ms, with the chain's blocks`,
    })
  }
  narrator.step('With all families loaded and used', { memory: await readMemory(facilitator.url) })
}

const readMemory = async (url: string): Promise<string> => {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  const [, bytes = ''] = /^process_resident_memory_bytes (\S+)$/m.exec(metrics) ?? []
  return bytes === '' ? 'not measured' : `${Math.round(Number(bytes) / 1_000_000)} MB`
}
