import type { Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { createFindWithCode } from '../../../../src/chains/evm/rpc/accountCode.js'
import { createRpc } from '../../../../src/chains/evm/rpc/rpc.js'
import { RateLimitedError, RpcError } from '../../../../src/chains/nodes/endpoint.js'
import { createJsonRpcEndpoint } from '../../../../src/chains/nodes/jsonRpcEndpoint.js'
import { Secret } from '../../../../src/platform/secret.js'
import { multicall3Address } from '../../../support/evm/localChain.js'
import {
  createDelegatedEoa,
  createEoa,
  createSafeWallet,
  deployWallet,
} from '../../../support/evm/wallets.js'
import { createMemoryLogger } from '../../../support/memoryLogger.js'
import { rejectionOf } from '../../../support/rejectionOf.js'
import { useScene } from '../../../support/useScene.js'
import { openScene } from '../scene.js'
import { createFakeEndpoint } from './fakeEndpoint.js'

const scene = useScene(openScene)

const openProxied = async () => {
  const proxy = await scene.openProxy()
  const endpoint = createJsonRpcEndpoint(new Secret(proxy.url), 60_000)
  const rpc = createRpc(scene.chain.network, [endpoint], createMemoryLogger())
  await rpc.probe()
  proxy.clearCalls()
  return { proxy, rpc }
}

const createAddresses = (count: number): readonly Hex[] =>
  Array.from({ length: count }, () => createEoa().address)

/** Takes its delegation back: EIP-7702 clears the code for the zero address. */
const clearDelegation = async ({ account }: Awaited<ReturnType<typeof createDelegatedEoa>>) => {
  const nonce = await scene.chain.client.getTransactionCount({ address: account.address })
  const contractAddress = `0x${'00'.repeat(20)}` as const
  const { chainId } = scene.chain
  const authorization = await account.signAuthorization({ contractAddress, chainId, nonce: nonce + 1 })
  await scene.chain.send({ account, to: account.address, authorizationList: [authorization], gas: 200_000n })
}

describe('which accounts have code', () => {
  it('is asked in one call for wallets, delegations and keys alike', async () => {
    const { proxy, rpc } = await openProxied()
    const safe = await deployWallet(scene.chain, await createSafeWallet(scene.chain))
    const delegated = await createDelegatedEoa(scene.chain, { checksSignatures: true })
    const former = await createDelegatedEoa(scene.chain, { checksSignatures: false })
    await clearDelegation(former)
    const keys = createAddresses(40)
    const precompile = `0x${'00'.repeat(19)}01` as const
    const withCode = [safe.address, delegated.address, multicall3Address] as const
    const asked: readonly Hex[] = [
      safe.address,
      ...keys,
      delegated.address,
      precompile,
      former.address,
      multicall3Address,
    ]
    expect(await rpc.findWithCode(asked)).toEqual(new Set(withCode))
    expect([proxy.count('eth_call'), proxy.count('eth_getCode')]).toEqual([1, 0])
    for (const account of asked) {
      const hasCode = withCode.some((address) => address === account)
      expect((await rpc.getCode(account)) !== '0x', account).toBe(hasCode)
    }
  })

  it('is right for each of hundreds, wherever they stand', async () => {
    const { proxy, rpc } = await openProxied()
    const asked = createAddresses(300)
    const withCode = [0, 1, 19, 149, 255, 256, 299].flatMap((index) => asked[index] ?? [])
    for (const account of withCode) await scene.chain.control.setCode(account, '0x00')
    expect(await rpc.findWithCode(asked)).toEqual(new Set(withCode))
    expect([proxy.count('eth_call'), proxy.count('eth_getCode')]).toEqual([1, 0])
  })

  it('runs no code of the accounts', async () => {
    const { rpc } = await openProxied()
    const [hostile, ...keys] = createAddresses(3)
    if (hostile === undefined) throw new Error('There is no account')
    // Code that never ends, and code that reverts each call.
    await scene.chain.control.setCode(hostile, '0x5b600056')
    expect(await rpc.findWithCode([...keys, hostile])).toEqual(new Set([hostile]))
    await scene.chain.control.setCode(hostile, '0x60006000fd')
    expect(await rpc.findWithCode([hostile, ...keys])).toEqual(new Set([hostile]))
  })

  it('of one account is asked as usual, and of none not at all', async () => {
    const { proxy, rpc } = await openProxied()
    expect(await rpc.findWithCode([multicall3Address])).toEqual(new Set([multicall3Address]))
    expect(await rpc.findWithCode([])).toEqual(new Set())
    expect([proxy.count('eth_call'), proxy.count('eth_getCode')]).toEqual([0, 1])
  })
})

describe('an endpoint', () => {
  const accounts = createAddresses(3)
  const [wallet] = accounts
  const open = async () => {
    const endpoint = createFakeEndpoint('one')
    endpoint.answer({
      eth_getCode: (params) => (Array.isArray(params) && params[0] === wallet ? '0x60' : '0x'),
    })
    const rpc = createRpc('eip155:84532', [endpoint], createMemoryLogger())
    await rpc.probe()
    return { endpoint, rpc }
  }

  it.each<[string, () => unknown]>([
    ['refuses calls without a recipient', () => new RpcError(-32602, 'missing field to')],
    ['says that the call reverts', () => new RpcError(3, 'execution reverted', '0x')],
    ['returns nothing', () => '0x'],
    ['returns too few', () => '0x010001'],
    ['returns too many', () => '0x0101000000'],
    ['returns what is no flag', () => '0x01010002'],
    ['returns null', () => null],
  ])('that %s is asked for each code, and for a minute not again', async (_what, answer) => {
    const { endpoint, rpc } = await open()
    endpoint.answer({ eth_call: answer })
    let nowMs = 0
    const find = createFindWithCode(
      async (method, params, schema) => await endpoint.request(method, params, schema),
      rpc.getCode,
      () => nowMs,
    )
    const expected = new Set(accounts.slice(0, 1))
    expect(await find(accounts)).toEqual(expected)
    expect([endpoint.count('eth_call'), endpoint.count('eth_getCode')]).toEqual([1, 3])
    nowMs = 59_999
    expect(await find(accounts)).toEqual(expected)
    expect([endpoint.count('eth_call'), endpoint.count('eth_getCode')]).toEqual([1, 6])
    nowMs = 60_000
    endpoint.answer({ eth_call: () => '0x01010000' })
    expect(await find(accounts)).toEqual(expected)
    expect([endpoint.count('eth_call'), endpoint.count('eth_getCode')]).toEqual([2, 6])
  })

  it('that refuses it stays in use, also where another would answer', async () => {
    const endpoints = [createFakeEndpoint('one'), createFakeEndpoint('other')]
    for (const endpoint of endpoints) {
      endpoint.answer({ eth_call: () => new RpcError(-32602, 'missing field to') })
    }
    const rpc = createRpc('eip155:84532', endpoints, createMemoryLogger())
    await rpc.probe()
    expect(await rpc.findWithCode(accounts)).toEqual(new Set())
    expect(endpoints.map((endpoint) => endpoint.count('eth_call')).sort()).toEqual([0, 1])
    expect(rpc.listWitnesses()).toHaveLength(2)
    expect(rpc.listHealth().map(({ lastFailure }) => lastFailure)).toEqual([null, null])
  })

  it('whose rate limit is exceeded is replaced by another, which runs it', async () => {
    const endpoints = [createFakeEndpoint('one'), createFakeEndpoint('other')]
    let asked = 0
    for (const endpoint of endpoints) {
      endpoint.answer({ eth_call: () => (asked++ === 0 ? new RateLimitedError(null) : '0x01000100') })
    }
    const rpc = createRpc('eip155:84532', endpoints, createMemoryLogger())
    await rpc.probe()
    expect(await rpc.findWithCode(accounts)).toEqual(new Set(accounts.slice(1, 2)))
    expect(asked).toBe(2)
    expect(endpoints.map((endpoint) => endpoint.count('eth_getCode'))).toEqual([0, 0])
  })

  it('that does not answer fails the question at once', async () => {
    const { endpoint, rpc } = await open()
    endpoint.answer({ '*': () => new Error('connection reset') })
    expect(await rejectionOf(rpc.findWithCode(accounts))).toMatchObject({ operationalCode: 'SVC-2004' })
    expect([endpoint.count('eth_call'), endpoint.count('eth_getCode')]).toEqual([1, 0])
  })

  it('that refuses the program without an answer of a node answers for each code when it is asked again', async () => {
    const { endpoint, rpc } = await open()
    endpoint.answer({ eth_call: () => new Error('HTTP 403') })
    expect(await rejectionOf(rpc.findWithCode(accounts))).toMatchObject({ operationalCode: 'SVC-2004' })
    expect(await rpc.findWithCode(accounts)).toEqual(new Set(accounts.slice(0, 1)))
    expect([endpoint.count('eth_call'), endpoint.count('eth_getCode')]).toEqual([1, 3])
  })
})
