import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/platform/clock.js'
import { silentLogger } from '../../src/platform/logger.js'
import { describeSchemeContract, type SchemeBody, type SchemeHarness } from '../contracts/schemeContract.js'
import { writeDirectBody } from '../support/directBody.js'
import { openWithMemoryStores } from '../support/directScheme.js'
import { listenOnLoopback } from '../support/listenOnLoopback.js'
import { readText } from '../support/readText.js'
import { startRpcProxy } from '../support/rpcProxy.js'
import { toyFamily } from '../support/toyFamily/index.js'
import { watchConnection } from '../support/watchConnection.js'

const amount = 10_000n

/** A node that answers GET by path, and knows what the test tells it. */
const startTown = async (chain = 'main') => {
  const nowSeconds = () => Math.floor(Date.now() / 1_000)
  const answers = new Map<string, () => unknown>([
    ['/head', () => ({ chain, height: 1, time: nowSeconds() })],
    ['/tokens/gold', () => ({})],
  ])
  const { url, stop } = await listenOnLoopback(
    createServer((request, response) => {
      const answer = answers.get(request.url ?? '')
      response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(answer?.() ?? {}))
    }),
  )
  /** Returns the hash of a final transfer. */
  const pay = (from: string, to: string): string => {
    const hash = randomBytes(32).toString('hex')
    const transfers = [{ asset: 'gold', from, to, amount: `${amount}` }]
    const found = { isFinal: true, time: nowSeconds(), transfers }
    answers.set(`/transactions/${hash}`, () => found)
    answers.set(`/balances/gold/${to}`, () => `${amount}`)
    return hash
  }
  return { url, pay, stop }
}

const openToy = async (url: string) => {
  const prepared = toyFamily.prepare({ TOWN_RPC_URL_main: url, TOWN_VERIFY_WAIT_MS: '0' })
  if (!('open' in prepared) || prepared.open === null) throw new Error('The family is not configured')
  return await openWithMemoryStores(prepared.open, { clock: systemClock, logger: silentLogger })
}

const createName = (): string => randomBytes(8).toString('hex').replace(/[0-9]/g, 'x')

const respell = ({ paymentPayload, ...rest }: SchemeBody): SchemeBody => {
  const payload = Object.fromEntries(Object.entries(paymentPayload.payload).reverse())
  return { paymentPayload: { ...paymentPayload, payload: { ...payload, amount: Number(amount) } }, ...rest }
}

const openHarness = async (): Promise<SchemeHarness> => {
  const town = await startTown()
  const proxy = await startRpcProxy(town.url)
  const { opened, lanes, close } = await openToy(proxy.url)
  const [scheme] = opened.schemes
  if (scheme === undefined) throw new Error('No scheme was opened')
  return {
    scheme,
    otherNetwork: 'town:test',
    plan: async () => {
      const [from, payTo] = [createName(), createName()]
      const terms = { network: 'town:main', asset: 'gold', amount, payTo, maxTimeoutSeconds: 300, extra: {} }
      const body = writeDirectBody(terms, { txHash: town.pay(from, payTo), from })
      const countReceived = async () => (await scheme.network.balances?.read('gold', payTo)) ?? 0n
      return { body, respelled: respell(body), countReceived }
    },
    openRecorder: lanes.openRecorder,
    createUnsentTransaction: () => Promise.reject(new Error('Nothing is sent')),
    ...watchConnection(proxy, { method: '/transactions' }),
    close: async () => {
      await close()
      await proxy.stop()
      await town.stop()
    },
  }
}

describeSchemeContract('exact-direct of a family of two files', openHarness, { isVerifyOnly: true })

describe('a family on which we only read', () => {
  it('needs no more than a manifest and what it opens', () => {
    expect(readdirSync('test/support/toyFamily').sort()).toEqual(['index.ts', 'open.ts'])
  })

  it('is not started on a node of another chain', async () => {
    const town = await startTown('elsewhere')
    await expect(openToy(town.url)).rejects.toThrow(
      'TOWN_RPC_URL_main: the endpoint serves chain elsewhere, not main',
    )
    await town.stop()
  })

  it('is off without variables, which it names', () => {
    expect(toyFamily.prepare({})).toEqual({ open: null })
    expect(toyFamily.prepare({ TOWN_RPC_URL_main: 'town' })).toHaveProperty('problems')
  })

  it.each(['aptos', 'cosmos', 'near', 'polkadot', 'stacks', 'tezos'])(
    '%s has the files that chains/README.md names',
    (family) => {
      const [, tree = ''] =
        /Where we only read.*\n+```\n([^`]*)```/.exec(readText('src/chains/README.md')) ?? []
      const names = [...tree.matchAll(/── (\S+\.ts)/g)].map(([, name = '']) => name)
      expect(names).toContain('lookUp.ts')
      expect(names.filter((name) => !existsSync(`src/chains/${family}/${name}`))).toEqual([])
    },
  )
})
