import { Address, beginCell } from '@ton/core'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import {
  balanceShape as aptosBalance,
  gasPriceShape as aptosGasPrice,
  readTokenBalance as readAptosBalance,
} from '../../src/chains/aptos/rpc.js'
import { encodeBase58 } from '../../src/chains/common/base58.js'
import type { Ask } from '../../src/chains/common/direct/node.js'
import { balanceShapeOf as cosmosBalanceOf, readGasPrices } from '../../src/chains/cosmos/rpc.js'
import { readBalance as readEvmBalance } from '../../src/chains/evm/tokens/erc20.js'
import { gasPriceShape as nearGasPrice, tokenBalanceShape } from '../../src/chains/near/rpc.js'
import { RpcError } from '../../src/chains/nodes/endpoint.js'
import { assetBalanceShape } from '../../src/chains/polkadot/rpc.js'
import { tokenPrograms } from '../../src/chains/solana/encoding/tokenAccounts.js'
import { readBalance as readSolanaBalance } from '../../src/chains/solana/network.js'
import type { Account } from '../../src/chains/solana/rpc/rpc.js'
import { feeRateShape, balanceShape as stacksBalance } from '../../src/chains/stacks/rpc.js'
import { balancesShapeOf } from '../../src/chains/tezos/octez.js'
import type { Rpc as TonRpc } from '../../src/chains/ton/rpc/rpc.js'
import { createJettonRegistry } from '../../src/chains/ton/tokens/jettons.js'
import { readBalance as readTronBalance } from '../../src/chains/tron/network.js'
import { encode } from '../support/cosmos/protobuf.js'
import { rejectionOf } from '../support/rejectionOf.js'

/* Nodes are not trusted: what is no balance is refused, not read as some number. */

const bytesOf = (text: string): readonly number[] => [...Buffer.from(text)]
const hexWord = (digit: string, length = 64) => digit.padStart(length, '0')

const cosmosAnswer = (balance: object | null, code = 0) => ({
  response: {
    code,
    value:
      balance === null ? null : Buffer.from(encode('QueryBalanceResponse', { balance })).toString('base64'),
  },
})

const owner = 'tz1burnburnburnburnburnburnburjAYjjX'
const tezosAnswer = (asked: string, tokenId: string, balance: unknown) => ({
  data: [
    {
      prim: 'Pair',
      args: [{ prim: 'Pair', args: [{ string: asked }, { int: tokenId }] }, { int: balance }],
    },
  ],
})

const accountOf = (balance: string, rest = '0002') => `0x${balance}${rest}`
const tezos = balancesShapeOf({ owner, tokenId: '0' })
const cosmos = cosmosBalanceOf('uusdc')

describe('an answer that is a balance', () => {
  it.each<[string, z.ZodType, unknown, bigint]>([
    [
      'NEP-141',
      tokenBalanceShape,
      { result: bytesOf('"340282366920938463463374607431768211455"') },
      2n ** 128n - 1n,
    ],
    ['NEP-141, none', tokenBalanceShape, { result: bytesOf('"0"') }, 0n],
    ['Aptos', aptosBalance, 1_000_000, 1_000_000n],
    ['Aptos, rounded by JSON', aptosBalance, 2 ** 60, 2n ** 60n],
    ['FA2', tezos, tezosAnswer(owner, '0', '77'), 77n],
    ['pallet assets', assetBalanceShape, accountOf('40420f00000000000000000000000000'), 1_000_000n],
    ['pallet assets, none', assetBalanceShape, null, 0n],
    ['SIP-010', stacksBalance, { okay: true, result: `0x0701${hexWord('f', 32)}` }, 15n],
    ['bank module', cosmos, cosmosAnswer({ denom: 'uusdc', amount: '12' }), 12n],
    ['gas on NEAR', nearGasPrice, { gas_price: '100000000' }, 100_000_000n],
    ['gas on Aptos', aptosGasPrice, { gas_estimate: 100 }, 100n],
    ['fees on Stacks', feeRateShape, 1, 1n],
  ])('%s', (_what, shape, answer, value) => {
    expect(shape.parse(answer)).toBe(value)
  })

  it.each<[string, z.ZodType, unknown]>([
    ['NEP-141: a number instead of a text', tokenBalanceShape, { result: bytesOf('12') }],
    ['NEP-141: negative', tokenBalanceShape, { result: bytesOf('"-1"') }],
    ['NEP-141: null', tokenBalanceShape, { result: bytesOf('null') }],
    ['NEP-141: more than a u128', tokenBalanceShape, { result: bytesOf(`"${'9'.repeat(40)}"`) }],
    ['NEP-141: no bytes', tokenBalanceShape, { result: [34, 300, 34] }],
    ['NEP-141: endless', tokenBalanceShape, { result: Array(100_000).fill(48) }],
    ['NEP-141: an error in a result', tokenBalanceShape, { error: 'wasm execution failed', logs: [] }],
    ['Aptos: a text', aptosBalance, '12'],
    ['Aptos: negative', aptosBalance, -1],
    ['Aptos: a fraction', aptosBalance, 0.5],
    ['Aptos: more than a u64', aptosBalance, 2 ** 65],
    ['FA2: of another owner', tezos, tezosAnswer(`${owner.slice(0, -1)}Y`, '0', '77')],
    ['FA2: of another token', tezos, tezosAnswer(owner, '1', '77')],
    ['FA2: negative', tezos, tezosAnswer(owner, '0', '-7')],
    ['FA2: no answer to the request', tezos, { data: [] }],
    [
      'FA2: two answers',
      tezos,
      { data: [...tezosAnswer(owner, '0', '1').data, ...tezosAnswer(owner, '0', '2').data] },
    ],
    ['pallet assets: empty', assetBalanceShape, '0x'],
    ['pallet assets: cut off', assetBalanceShape, accountOf('40420f00000000000000000000000000', '')],
    ['pallet assets: endless', assetBalanceShape, accountOf('0'.repeat(32), '00'.repeat(10_000))],
    ['SIP-010: (err uint)', stacksBalance, { okay: true, result: `0x0801${hexWord('f', 32)}` }],
    ['SIP-010: (ok int)', stacksBalance, { okay: true, result: `0x0700${hexWord('f', 32)}` }],
    ['SIP-010: failed call', stacksBalance, { okay: false, cause: 'NoSuchContract' }],
    ['bank module: of another denomination', cosmos, cosmosAnswer({ denom: 'uatom', amount: '12' })],
    ['bank module: negative', cosmos, cosmosAnswer({ denom: 'uusdc', amount: '-12' })],
    ['bank module: an error', cosmos, cosmosAnswer({ denom: 'uusdc', amount: '12' }, 18)],
    ['bank module: nothing', cosmos, cosmosAnswer(null)],
    ['bank module: no protobuf', cosmos, { response: { code: 0, value: '////' } }],
    ['gas on NEAR: negative', nearGasPrice, { gas_price: '-1' }],
    ['gas on Aptos: a text', aptosGasPrice, { gas_estimate: '100' }],
    ['fees on Stacks: a fraction', feeRateShape, 0.5],
  ])('is not %s', (_what, shape, answer) => {
    expect(shape.safeParse(answer).success).toBe(false)
  })
})

describe('Aptos: an account without a store', () => {
  const failing =
    (status: number, text: string): Ask =>
    async (_method, _params, _schema, { isVerdict = () => false } = {}) => {
      const error = new RpcError(status, text)
      throw isVerdict(error) ? error : new Error('No endpoint responds')
    }
  const read = (ask: Ask) => readAptosBalance(ask, { asset: '0xa', owner: '0xb' })

  it.each(['account_not_found', 'resource_not_found'])('has nothing: %s', async (code) => {
    expect(await read(failing(404, JSON.stringify({ message: 'none', error_code: code })))).toBe(0n)
  })

  it.each([
    [404, '{"message":"not found","error_code":"web_framework_error"}'],
    [404, '<html>not found</html>'],
    [410, '{"message":"pruned","error_code":"version_pruned"}'],
    [400, '{"message":"account_not_found","error_code":"invalid_input"}'],
  ])('is no unknown path: %i %s', async (status, text) => {
    await expect(read(failing(status, text))).rejects.toThrow('No endpoint responds')
  })
})

describe('Cosmos: prices of gas', () => {
  it.each([
    ['0.100000000000000000uusdc', 'uusdc', 10_000n],
    ['0.01ustake, 0.1uusdc', 'uusdc', 10_000n],
    ['1ibc/ABC', 'ibc/ABC', 100_000n],
    ['0.000000000000000001uusdc', 'uusdc', 1n],
    ['0uusdc', 'uusdc', 0n],
  ])('%s', (text, denom, fee) => {
    expect(
      readGasPrices(text)
        .find((price) => price.denom === denom)
        ?.feeFor(100_000n),
    ).toBe(fee)
  })

  it.each(['', ',', '-1uusdc', '0.1', 'uusdc', `${'9'.repeat(1_000)}uusdc`])('not %s', (text) => {
    expect(readGasPrices(text)).toEqual([])
  })
})

describe('EVM and TRON: what balanceOf returns', () => {
  const evm = {
    asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    owner: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  } as const
  const tron = { contract: `41${'11'.repeat(20)}`, owner: `41${'22'.repeat(20)}` } as const
  const readEvm = (value: `0x${string}`, succeeds = true) =>
    readEvmBalance(
      {
        network: 'eip155:84532',
        rpc: { call: async () => (succeeds ? { succeeds, value } : { succeeds, data: value, message: '' }) },
      },
      evm,
    )
  const readTron = (returned: string, succeeds = true) =>
    readTronBalance(
      {
        network: 'tron:nile',
        rpc: { simulate: async () => ({ succeeds, returned, isContract: true, energy: 0, logs: null }) },
      },
      tron,
    )

  it('is one number', async () => {
    expect(await readEvm(`0x${hexWord('f')}`)).toBe(15n)
    expect(await readTron(hexWord('f'))).toBe(15n)
  })

  it.each(['', 'f', hexWord('f').repeat(2), hexWord('f').slice(1)])('is not "%s"', async (returned) => {
    const refused = { code: 'SERVICE_UNAVAILABLE' }
    expect(await rejectionOf(readEvm(`0x${returned}`))).toMatchObject(refused)
    expect(await rejectionOf(readTron(returned))).toMatchObject(refused)
  })

  it('is nothing if the call fails', async () => {
    expect(await rejectionOf(readEvm(`0x${hexWord('f')}`, false))).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    })
    expect(await rejectionOf(readTron(hexWord('f'), false))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })
})

describe('Solana: the associated account', () => {
  const [spl = '', token2022 = ''] = tokenPrograms
  const keyOf = (digit: number) => encodeBase58(Buffer.alloc(32, digit))
  const [mint, holder, other] = [keyOf(1), keyOf(2), keyOf(3)]

  const tokenAccount = (
    program: string,
    changes: { mint?: string; owner?: string; amount?: bigint } = {},
  ): Account => {
    const data = Buffer.alloc(165)
    Buffer.alloc(32, changes.mint === other ? 3 : 1).copy(data, 0)
    Buffer.alloc(32, changes.owner === other ? 3 : 2).copy(data, 32)
    data.writeBigUInt64LE(changes.amount ?? 7n, 64)
    data[108] = 1
    return { lamports: 1, owner: program, data }
  }
  const mintOf = (program: string): Account => ({ lamports: 1, owner: program, data: Buffer.alloc(82) })
  const read = (...accounts: (Account | null)[]) =>
    readSolanaBalance(
      {
        network: 'solana:test',
        rpc: { getAccounts: async () => accounts },
        findAssociatedAccount: ({ program }) => `of ${program}`,
      },
      { mint, owner: holder },
    )

  it('is that of the program which owns the mint', async () => {
    const [ofSpl, of2022] = [tokenAccount(spl, { amount: 7n }), tokenAccount(token2022, { amount: 9n })]
    expect(await read(mintOf(spl), ofSpl, of2022)).toBe(7n)
    expect(await read(mintOf(token2022), ofSpl, of2022)).toBe(9n)
  })

  it('has nothing where it is missing, without the mint, or given to another owner', async () => {
    expect(await read(mintOf(spl), null, null)).toBe(0n)
    expect(await read(null, tokenAccount(spl), null)).toBe(0n)
    expect(await read(mintOf(keyOf(9)), tokenAccount(spl), null)).toBe(0n)
    expect(await read(mintOf(spl), tokenAccount(spl, { owner: other }), null)).toBe(0n)
    const onlyLamports = { lamports: 5, owner: keyOf(0), data: Buffer.alloc(0) }
    expect(await read(mintOf(spl), onlyLamports, null)).toBe(0n)
  })

  it.each<[string, (Account | null)[]]>([
    ['of another mint', [mintOf(spl), tokenAccount(spl, { mint: other }), null]],
    ['cut off', [mintOf(spl), { ...tokenAccount(spl), data: Buffer.alloc(10) }, null]],
    ['left out', [mintOf(spl)]],
    ['one too many', [mintOf(spl), tokenAccount(spl), null, null]],
  ])('is not %s', async (_what, accounts) => {
    expect(await rejectionOf(read(...accounts))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })
})

describe('TON: a jetton wallet', () => {
  const [master, holder, wallet] = [1, 2, 3].map((digit) => new Address(0, Buffer.alloc(32, digit)))
  if (master === undefined || holder === undefined || wallet === undefined) throw new Error('No addresses')
  type Answer = Awaited<ReturnType<TonRpc['runGetMethod']>>
  const addressCell = beginCell().storeAddress(wallet).endCell()
  const find = (ofMaster: Answer, ofWallet: Answer) => {
    const runGetMethod: TonRpc['runGetMethod'] = async (_address, method) =>
      method === 'get_wallet_address' ? ofMaster : ofWallet
    const unused = async () => {
      throw new Error('is not asked')
    }
    const rpc: TonRpc = {
      runGetMethod,
      readAccount: unused,
      listTransactions: unused,
      findResultTransaction: unused,
      send: unused,
      probe: unused,
      listHealth: () => [],
    }
    return createJettonRegistry(rpc, { tokens: [], acceptsAnyToken: true }).findBalance(master, holder)
  }

  it('states its balance, and has none before it is deployed', async () => {
    expect(await find([addressCell], [12n, addressCell])).toBe(12n)
    expect(await find([addressCell], null)).toBe(0n)
  })

  it.each<[string, Answer, Answer]>([
    ['no master', null, [12n]],
    ['no address', [12n], [12n]],
    ['no number', [addressCell], [addressCell]],
    ['an empty stack', [addressCell], []],
    ['a negative number', [addressCell], [-1n]],
    ['more than a wallet holds', [addressCell], [2n ** 120n]],
  ])('is not read from %s', async (_what, ofMaster, ofWallet) => {
    expect(await find(ofMaster, ofWallet)).toBeNull()
  })
})
