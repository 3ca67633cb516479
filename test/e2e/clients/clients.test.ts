import { base58 } from '@scure/base'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nileEnvironment } from '../../chains/tron/openScheme.js'
import { type LocalChain, startLocalChain } from '../../support/evm/localChain.js'
import { createGate } from '../../support/gate.js'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js'
import { patientTimeoutMs } from '../../support/rpcProxy.js'
import { startService, type TestService } from '../../support/service.js'
import { type LocalSolana, startLocalSolana } from '../../support/solana/localChain.js'
import { fundRelayWallets, tonEnvironment } from '../../support/ton/relayWallets.js'
import { startTonChain, type TonChain } from '../../support/ton/tonChain.js'
import { startTronChain, type TronChain } from '../../support/tron/tronChain.js'
import { buyAsStandIn, type StandIn, standIns } from './buyAsStandIn.js'
import { installClients } from './install.js'
import { type Pair, pairs } from './matrix.js'
import { type Outcome, renderPage } from './renderPage.js'
import { runPairs } from './runPairs.js'

/*
 * Packages as others published them buy from each other through this service. `npm run clients` writes what a run saw
 * to docs/clients.md; every other run compares.
 */

const isInstalled = await installClients()
// As many as CI has cores.
const parallelPrograms = 2
const timeoutMs = 360_000

describe.skipIf(!isInstalled)('published clients and servers', () => {
  let chains: { evm: LocalChain; solana: LocalSolana; ton: TonChain; tron: TronChain }
  let tronToken: string
  let database: TestDatabase
  let service: TestService
  const pairOutcomes = new Map<Pair, Promise<string>>()
  const standInOutcomes = new Map<StandIn, Promise<string>>()

  beforeAll(async () => {
    const [evm, solana, ton, tron, created] = await Promise.all([
      startLocalChain({ hasBatchSettlement: true, hasAuthCapture: true }),
      // A blockhash lives for 150 slots: five minutes.
      startLocalSolana({ cluster: 'devnet', feePayerCount: 2, slotMs: 2_000 }),
      startTonChain(),
      startTronChain({ blockTimeMs: 40 }),
      createTestDatabase(),
    ])
    chains = { evm, solana, ton, tron }
    database = created
    tronToken = await tron.deploy('TetherTrc20')
    await fundRelayWallets(ton)
    service = await startService({
      chain: evm,
      databaseUrl: database.url,
      environment: {
        SOLANA_PRIVATE_KEY: solana.feePayers.map(({ secretKey }) => base58.encode(secretKey)).join(','),
        SOLANA_RPC_URL_devnet: solana.url,
        SOLANA_POLL_INTERVAL_MS_devnet: '100',
        SOLANA_RPC_TIMEOUT_MS: patientTimeoutMs,
        ...nileEnvironment(tron.url, tronToken),
        ...tonEnvironment(ton),
      },
    })
    const limit = createLimit(parallelPrograms)
    const gates = new Map(pairs.map((pair) => [pair, createGate<string>()]))
    // In order of the matrix, as the page has it.
    for (const [pair, { opened }] of gates) pairOutcomes.set(pair, opened)
    for (const group of listGroups()) {
      const onOutcome = (pair: Pair, outcome: string) => gates.get(pair)?.open(outcome)
      const running = limit(() => runPairs({ pairs: group, chains, facilitatorUrl: service.url, onOutcome }))
      running.catch((error: unknown) => {
        for (const pair of group) onOutcome(pair, String(error))
      })
    }
    for (const standIn of standIns) {
      standInOutcomes.set(
        standIn,
        limit(() => buyAsStandIn(standIn, { ...chains, tronToken, service })),
      )
    }
  }, timeoutMs)
  afterAll(async () => {
    await Promise.allSettled([...pairOutcomes.values(), ...standInOutcomes.values()])
    await service.close()
    const { evm, solana, ton, tron } = chains
    await Promise.all([evm.stop(), solana.stop(), ton.stop(), tron.stop()])
    await database.drop()
  }, timeoutMs)

  const rows = pairs.map((pair) => ({
    ...pair,
    pair,
    protocol: pair.version === 'MPP' ? 'MPP' : `version ${pair.version}`,
    both: pair.families.join(' and '),
  }))

  it.each(rows.filter(({ obstacle }) => obstacle === undefined))(
    '$client buys from $server in $protocol on $both',
    async ({ pair }) => {
      expect(await pairOutcomes.get(pair)).toBe('pays')
    },
    timeoutMs,
  )

  it.each(rows.filter(({ obstacle }) => obstacle !== undefined))(
    '$client does not buy from $server in $protocol: $obstacle.why',
    async ({ pair, obstacle }) => {
      const lines = (await pairOutcomes.get(pair))?.matchAll(/^(?:evm|solana): .*/gm) ?? []
      expect([...lines]).toHaveLength(pair.families.length)
      expect(await pairOutcomes.get(pair)).toContain(obstacle?.seen)
    },
    timeoutMs,
  )

  it.each(standIns)(
    '$client, as a stand-in, buys with $form',
    async (standIn) => {
      expect(await standInOutcomes.get(standIn)).toBe('pays')
    },
    timeoutMs,
  )

  it(
    'are in docs/clients.md with what this run saw: `npm run clients` writes it',
    async () => {
      const settle = async <Row>(outcomes: ReadonlyMap<Row, Promise<string>>): Promise<Outcome<Row>[]> =>
        Promise.all([...outcomes].map(async ([row, result]) => ({ row, result: await result })))
      const page = renderPage(await settle(pairOutcomes), await settle(standInOutcomes))
      await expect(page).toMatchFileSnapshot('../../../docs/clients.md')
    },
    timeoutMs,
  )
})

/** Pairs of one process, which load the packages of their version once. */
const listGroups = (): readonly (readonly Pair[])[] => [
  pairs.filter(({ version }) => version !== 1),
  pairs.filter(({ version }) => version === 1),
]

type Limit = <Result>(task: () => Promise<Result>) => Promise<Result>

/** Runs tasks in order, `count` at a time. */
const createLimit = (count: number): Limit => {
  const last: Promise<unknown>[] = Array.from({ length: count }, () => Promise.resolve())
  let free = Promise.resolve()
  return async (task) => {
    const turn = free.then(() => Promise.race(last.map((each, index) => each.then(() => index))))
    const started = turn.then((index) => {
      const result = task()
      last[index] = result.catch(() => undefined)
      return { result }
    })
    free = started.then(() => undefined)
    return (await started).result
  }
}
