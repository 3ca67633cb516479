import { createServer } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { type LoopbackServer, listenOnLoopback } from '../../support/listenOnLoopback.js'
import { openScheme, testnetEnvironment } from './openScheme.js'

const token = 'ST1PQHQKV0RJXZFY1DGX8MNSNYVE3VGZJSRTPGZGM.token-susdc'
const servers: LoopbackServer[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop()
})

interface ApiOptions {
  readonly networkId?: number
  readonly headAgeSeconds?: number
  readonly transaction?: (id: string) => unknown
}

/** An API that knows its newest block, and the transactions that it is given. */
const startApi = async ({ networkId = 2_147_483_648, headAgeSeconds = 10, transaction }: ApiOptions = {}) => {
  const keys: unknown[] = []
  const time = Math.floor(Date.now() / 1_000) - headAgeSeconds
  const tip = { canonical: true, height: 100, block_time: time, burn_block_height: 900 }
  const server = createServer(({ url = '', headers }, response) => {
    keys.push(headers['x-api-key'])
    const [, id] = /^\/extended\/v1\/tx\/(0x\w+)/.exec(url) ?? []
    const body = url.startsWith('/v2/info')
      ? { network_id: networkId }
      : url.startsWith('/extended/v2/blocks')
        ? { results: [tip] }
        : url.startsWith('/v2/contracts/interface')
          ? { fungible_tokens: [{ name: 'usd' }] }
          : id === undefined
            ? undefined
            : transaction?.(id)
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? { error: 'could not find transaction by ID' }))
  })
  const listening = await listenOnLoopback(server)
  servers.push(listening)
  return { ...listening, keys, time }
}

describe('at the start', () => {
  it('an endpoint of another chain stops it', async () => {
    const { url } = await startApi({ networkId: 1 })
    await expect(openScheme(testnetEnvironment(url, token))).rejects.toThrow(
      'STACKS_RPC_URL_testnet: the endpoint serves chain 1, not 2147483648',
    )
  })

  it('a network is served, with its token, its signers and the operator’s key', async () => {
    const { url, keys } = await startApi()
    const signer = 'ST1PQHQKV0RJXZFY1DGX8MNSNYVE3VGZJSRTPGZGM'
    const { scheme, health, close } = await openScheme({
      ...testnetEnvironment(url, token),
      STACKS_SIGNER_testnet: signer,
      STACKS_API_KEY_testnet: 'key',
    })
    expect({ ...scheme.kind, ...scheme.describeKind() }).toEqual({
      scheme: 'exact-direct',
      network: 'stacks:2147483648',
      extensions: [],
      extra: { assetSymbol: 'USD', assetDecimals: 6, contractAddress: token, networkName: 'testnet' },
    })
    expect(scheme.network.signers).toEqual([signer])
    expect(health()).toMatchObject([{ isServing: true }])
    expect(new Set(keys)).toEqual(new Set(['key']))
    await close()
  })

  it('a dead endpoint only hides the network', async () => {
    const { url, stop } = await startApi()
    await stop()
    const { health, close } = await openScheme(testnetEnvironment(url, token))
    expect(health()).toMatchObject([{ isServing: false, problem: 'no node answers' }])
    await close()
  })

  it('a newest block that is too old hides it', async () => {
    const { url } = await startApi({ headAgeSeconds: 3_600 })
    const { health, close } = await openScheme(testnetEnvironment(url, token))
    expect(health()).toMatchObject([{ isServing: false, problem: expect.stringContaining('s old') }])
    await close()
  })
})

describe('requirements', () => {
  it('whose extra names another contract are contradictory', async () => {
    const { url } = await startApi()
    const { chain, close } = await openScheme(testnetEnvironment(url, token))
    const contradict = (contractAddress: unknown) => chain.findContradiction(token, { contractAddress })
    expect(chain.findContradiction(token, {})).toBeNull()
    expect(contradict(token)).toBeNull()
    for (const other of [`${token}2`, null, 7]) expect(contradict(other)).toContain('contractAddress')
    await close()
  })

  it('give slow confirmations more time', async () => {
    const { url } = await startApi()
    const environment = { ...testnetEnvironment(url, token), STACKS_BURN_CONFIRMATIONS_testnet: '2' }
    const { chain, close } = await openScheme(environment)
    expect(chain.minAgeSeconds).toBe(120 + 2 * 1_200)
    await close()
  })
})

describe('look-ups', () => {
  const payer = 'ST1PQHQKV0RJXZFY1DGX8MNSNYVE3VGZJSRTPGZGM'
  const payTo = 'ST2CY5V39NHDPWSXMW9QDT3HC3GD6Q6XX4CFRK9AG'
  const query = {
    transaction: `0x${'ab'.repeat(32)}`,
    asset: token,
    from: payer,
    to: payTo,
    amount: 10_000n,
    notBefore: new Date(0),
    hints: {},
  }
  const transactionOf = (id: string, amount: string, changes: object = {}) => ({
    tx_id: id,
    tx_status: 'success',
    sender_address: payer,
    canonical: true,
    microblock_canonical: true,
    is_unanchored: false,
    block_hash: `0x${'00'.repeat(32)}`,
    block_height: 90,
    block_time: 1_790_000_000,
    burn_block_height: 890,
    event_count: 1,
    events: [
      {
        event_index: 0,
        event_type: 'fungible_token_asset',
        asset: {
          asset_event_type: 'transfer',
          asset_id: `${token}::usd`,
          sender: payer,
          recipient: payTo,
          amount,
        },
      },
    ],
    ...changes,
  })

  it('are successful with the transfers and the time of the block', async () => {
    const { url } = await startApi({ transaction: (id) => transactionOf(id, '10000') })
    const { chain, close } = await openScheme(testnetEnvironment(url, token))
    expect(await chain.lookUp(query)).toEqual({
      state: 'successful',
      includedAt: new Date(1_790_000_000_000),
      transfers: [{ asset: token, from: payer, to: payTo, amount: 10_000n, memo: null }],
    })
    await close()
  })

  it('of what one API does not know are an outage while it lags behind', async () => {
    const { url } = await startApi({ headAgeSeconds: 3_600 })
    const { chain, close } = await openScheme(testnetEnvironment(url, token))
    await expect(chain.lookUp(query)).rejects.toThrow('lag behind')
    await close()
  })

  it('are pending from the cross-check amount on, until two APIs report the same', async () => {
    let amount = '10001'
    const [first, second] = [
      await startApi({ transaction: (id) => transactionOf(id, '10000') }),
      await startApi({ transaction: (id) => transactionOf(id, amount) }),
    ]
    const environment = testnetEnvironment(`${first.url},${second.url}`, token)
    const { chain, close } = await openScheme({ ...environment, STACKS_CROSS_CHECK_AMOUNT: '10000' })
    expect(await chain.lookUp(query)).toEqual({ state: 'pending' })
    // What would be credited counts, not only what is required.
    expect(await chain.lookUp({ ...query, amount: 9_999n })).toEqual({ state: 'pending' })
    amount = '10000'
    expect(await chain.lookUp(query)).toMatchObject({ state: 'successful' })
    await close()
  })

  it('list transfers back to the sender, and none of other principals', async () => {
    const events = [
      [payer, payTo],
      [payTo, payer],
      [payTo, token],
    ].map(([sender, recipient], index) => ({
      event_index: index,
      event_type: 'fungible_token_asset',
      asset: { asset_event_type: 'transfer', asset_id: `${token}::usd`, sender, recipient, amount: '5' },
    }))
    const { url } = await startApi({
      transaction: (id) => transactionOf(id, '5', { event_count: 3, events }),
    })
    const { chain, close } = await openScheme(testnetEnvironment(url, token))
    expect(await chain.lookUp(query)).toMatchObject({
      transfers: [
        { from: payer, to: payTo },
        { from: payTo, to: payer },
      ],
    })
    // The merchant signed nothing: what its account lost is no payment of its owner.
    expect(await chain.lookUp({ ...query, from: payTo, to: payer })).toMatchObject({
      transfers: [{ from: payer, to: payTo }],
    })
    await close()
  })
})
