import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { randomAddress } from '../test/support/evm/authorization.js'
import { type LocalChain, startLocalChain } from '../test/support/evm/localChain.js'
import { startOurs } from './contenders.js'
import type { Contender } from './launch.js'
import { measureLoad } from './measureLoad.js'
import type { Scale } from './options.js'
import { readCpuMs } from './readUsage.js'
import { createPayers, signPayments } from './signPayments.js'
import { withParts } from './stage.js'
import { median } from './summarizeLoad.js'
import { facilitatorColumn, figure, printTable, times, toColumns } from './table.js'
import { noFailures, type Verdict } from './verdict.js'

interface Load {
  readonly path: '/verify' | '/settle'
  readonly connections: number
  readonly count: number
}

const loads: readonly Load[] = [
  { path: '/verify', connections: 64, count: 8_000 },
  { path: '/settle', connections: 64, count: 2_400 },
]
// The three take turns, because the machine is not equally fast all the time.
const rounds = 5
const limitMs = 60_000

/** What traces cost: the same load without a collector, with all requests recorded, and with one in a hundred. */
export const measureTraces = async (scale: Scale): Promise<readonly Verdict[]> => {
  const verdicts: Verdict[] = []
  await withParts(async (keep) => {
    const chain = await keep(startLocalChain({ facilitatorCount: 3 }))
    const collector = await keep(startCollector())
    const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
    const variants: readonly (readonly [name: string, environment: Readonly<Record<string, string>>])[] = [
      ['without', {}],
      ['all requests', traced],
      [
        'one in a hundred',
        { ...traced, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.01' },
      ],
    ]
    const contenders: Contender[] = []
    for (const [index, [name, environment]] of variants.entries()) {
      const key = chain.facilitators[index]
      if (key === undefined) throw new Error('keys are missing')
      contenders.push({ ...(await keep(startOurs({ rpcUrl: chain.url, key, environment }))), name })
    }
    const table = printTable(
      'Traces',
      `Valid payments, ${loads[0]?.connections} connections. CPU is that of the service: the median of ${rounds} rounds, and their range.`,
      [
        { name: 'request', width: 9 },
        facilitatorColumn,
        ...toColumns('CPU ms/req', 'least', 'most', 'ratio', 'MB traced'),
      ],
    )
    for (const load of loads) {
      const cpu = new Map<string, number[]>(contenders.map(({ name }) => [name, []]))
      const bytes = new Map<string, number>()
      // The first round warms up, and is not counted.
      for (let round = 0; round <= rounds; round += 1) {
        for (const contender of contenders) {
          const before = collector.receivedBytes()
          const result = await measure(chain, contender, { ...load, count: Math.ceil(load.count * scale) })
          if (round === 0) continue
          cpu.get(contender.name)?.push(result.cpuMsPerRequest)
          bytes.set(contender.name, (bytes.get(contender.name) ?? 0) + collector.receivedBytes() - before)
          verdicts.push(noFailures(`${load.path}, traces: ${contender.name}`, result))
        }
      }
      const base = median(cpu.get('without') ?? [])
      for (const { name } of contenders) {
        const measured = cpu.get(name) ?? []
        table.row(
          ...[load.path, name, figure(median(measured)), figure(Math.min(...measured))],
          ...[figure(Math.max(...measured)), times(median(measured), base)],
          figure((bytes.get(name) ?? 0) / 1e6),
        )
      }
    }
  })
  return verdicts.filter(({ isMet }, index) => !isMet || index % rounds === 0)
}

const measure = async (chain: LocalChain, contender: Contender, { path, connections, count }: Load) => {
  const payments = await signPayments(chain, await createPayers(chain, count), {
    count,
    payTo: randomAddress(),
  })
  const bodies = payments.map(({ body }) => body)
  const cpuBefore = readCpuMs(contender.pid)
  const result = await measureLoad(contender, { path, bodies, connections, limitMs })
  // Spans are sent within five seconds, and sending them counts.
  await new Promise((resolve) => setTimeout(resolve, 6_000))
  return { ...result, cpuMsPerRequest: (readCpuMs(contender.pid) - cpuBefore) / count }
}

/** Accepts every export and counts its bytes. */
const startCollector = async () => {
  let received = 0
  const server = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => {
      received += chunk.length
    })
    request.on('end', () => response.setHeader('content-type', 'application/json').end('{}'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    receivedBytes: () => received,
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
