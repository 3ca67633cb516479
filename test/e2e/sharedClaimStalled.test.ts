import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { newestTransaction } from '../../src/stores/postgres/journal/settlementStates.js'
import { careEnvironment } from '../chains/evm/channels/careScene.js'
import { type Channel, openChannelOnChain, voucherBody } from '../chains/evm/channels/channelScene.js'
import { environmentFor } from '../support/core.js'
import { readChannel } from '../support/evm/channels.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { createEoa } from '../support/evm/wallets.js'
import { type FacilitatorProcess, startFacilitator } from '../support/facilitator.js'
import { pollUntil } from '../support/pollUntil.js'
import { createTestDatabase, type TestDatabase } from '../support/postgres.js'
import { type RpcProxy, startRpcProxy } from '../support/rpcProxy.js'

/* Two processes that care for the same channels, of which one stands still for a while, as a paused machine does. */

const authorizer = createEoa(generatePrivateKey())
let chain: LocalChain
let database: TestDatabase
let proxy: RpcProxy
let stalled: FacilitatorProcess
let other: FacilitatorProcess

const start = (rpcUrl: string) =>
  startFacilitator(
    environmentFor({
      chain,
      databaseUrl: database.url,
      environment: {
        ...careEnvironment(chain, authorizer),
        EVM_CHANNEL_SWEEP_AMOUNT: '1000000000',
        [`EVM_RPC_URL_${chain.chainId}`]: rpcUrl,
        HOST: '127.0.0.1',
      },
    }),
    () => undefined,
  )

beforeAll(async () => {
  chain = await startLocalChain({ facilitatorCount: 1, hasBatchSettlement: true })
  database = await createTestDatabase()
  proxy = await startRpcProxy(chain.url)
  stalled = await start(proxy.url)
})
afterAll(async () => {
  if (stalled !== undefined) process.kill(stalled.pid, 'SIGCONT')
  await Promise.all([stalled?.kill(), other?.kill()])
  await proxy.stop()
  await database.drop()
  await chain.stop()
})

const post = async (to: FacilitatorProcess, path: string, body: unknown, apiKey?: string) => {
  const response = await fetch(`${to.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify(body),
  })
  const json: unknown = await response.json()
  return json
}

const register = async (projectName: string): Promise<string> => {
  const json = await post(stalled, '/register', { email: `${projectName}@example.com`, projectName })
  return z.object({ apiKey: z.string() }).parse(json).apiKey
}

const listClaims = async () =>
  (
    await database
      .pool()
      .query(
        `select state, ${newestTransaction('s')} as transaction from settlements s where details ->> 'type' = 'claim' order by created_at`,
      )
  ).rows

const listInstances = async (): Promise<readonly string[]> =>
  (await database.pool().query('select id from instances')).rows.map(({ id }) => id)

const readTotals = (channels: readonly Channel[]) =>
  Promise.all(channels.map(async ({ config }) => (await readChannel(chain, config)).totalClaimed))

it('a process that stands still between record and send of a shared claim makes it once, and loses nothing', async () => {
  const [stalledId] = await listInstances()
  const keys = [await register('ada'), await register('bob'), await register('cyd')]
  const channels: Channel[] = []
  const pay = async (channel: Channel, apiKey: string, ceiling: bigint) =>
    expect(await post(stalled, '/verify', await voucherBody(channel, ceiling), apiKey)).toMatchObject({
      isValid: true,
    })
  const release = proxy.hold('eth_sendRawTransaction')
  for (const _ of keys) channels.push(await openChannelOnChain(chain, { authorizer }, 100_000n))
  for (const [index, channel] of channels.entries()) await pay(channel, keys[index] ?? '', 10_000n)
  const claims = await pollUntil(
    async () => {
      const rows = await listClaims()
      return rows.length === 3 && rows.every(({ transaction }) => transaction !== null) ? rows : null
    },
    'the claims to be recorded',
    listClaims,
  )
  process.kill(stalled.pid, 'SIGSTOP')
  expect(await readTotals(channels)).toEqual([0n, 0n, 0n])

  other = await start(chain.url)
  // Its heartbeat is too old from here on.
  await database
    .pool()
    .query("update instances set seen_at = now() - interval '11 seconds' where id = $1", [stalledId])
  await pollUntil(
    async () => (await listClaims()).every(({ state }) => state === 'confirmed'),
    'the other process to send what was recorded',
    listClaims,
  )
  expect(await readTotals(channels)).toEqual([9_000n, 9_000n, 9_000n])

  process.kill(stalled.pid, 'SIGCONT')
  release()
  await pollUntil(
    async () => (await fetch(`${stalled.url}/ready`)).ok && (await listInstances()).includes(stalledId ?? ''),
    'the process to go on',
  )
  // Later vouchers are claimed once too, by whichever of the two has the job.
  for (const [index, channel] of channels.entries()) await pay(channel, keys[index] ?? '', 30_000n)
  await pollUntil(
    async () => (await readTotals(channels)).every((total) => total === 29_000n),
    'the next claims',
    listClaims,
  )
  await pollUntil(
    async () => (await listClaims()).every(({ state }) => state === 'confirmed'),
    'every claim to be confirmed',
    listClaims,
  )
  const all = await listClaims()
  expect(all).toHaveLength(6)
  const transactions = new Set(all.map(({ transaction }) => transaction))
  expect(claims.every(({ transaction }) => transactions.has(transaction))).toBe(true)
  const [signer] = chain.facilitators
  if (signer === undefined) throw new Error('There is no signer')
  expect(await chain.client.getTransactionCount({ address: signer.address })).toBe(transactions.size)
}, 300_000)
