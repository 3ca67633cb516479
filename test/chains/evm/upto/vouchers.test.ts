import { randomUUID } from 'node:crypto'
import { type Hex, serializeErc6492Signature } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ContractReader } from '../../../../src/chains/chain.js'
import { createContractReader } from '../../../../src/chains/evm/rpc/untrustedCalls.js'
import { createVouchers } from '../../../../src/chains/evm/upto/vouchers.js'
import type { Voucher, Vouchers } from '../../../../src/schemes/network.js'
import { type LocalChain, startLocalChain } from '../../../support/evm/localChain.js'
import { toCompact, toHighS, toParityV } from '../../../support/evm/signatureForms.js'
import { openUntrustedCalls } from '../../../support/evm/untrustedCalls.js'
import {
  createEoa,
  createMoodyWallet,
  createSoladyWallet,
  deployWallet,
  type PayerWallet,
} from '../../../support/evm/wallets.js'
import { waitLimitMs } from '../../../support/pollUntil.js'

let chain: LocalChain
let contracts: ContractReader
let vouchers: Vouchers
beforeAll(async () => {
  chain = await startLocalChain()
  contracts = createContractReader(chain.network, openUntrustedCalls(chain))
  vouchers = createVouchers({ chainId: chain.chainId, contractReader: contracts })
})
afterAll(() => chain.stop())

const voucher: Voucher = { streamId: randomUUID(), amount: 2n ** 255n, sequence: 7n }

const sign = (wallet: PayerWallet, { streamId, amount, sequence }: Voucher = voucher, chainId?: number) =>
  wallet.signTypedData({
    domain: { name: 'Quittance Stream', version: '1', chainId: chainId ?? chain.chainId },
    types: {
      Voucher: [
        { name: 'streamId', type: 'string' },
        { name: 'amount', type: 'uint256' },
        { name: 'sequence', type: 'uint256' },
      ],
    },
    primaryType: 'Voucher',
    message: { streamId, amount, sequence },
  })

const isSigned = (payer: string, signature: string, by: Vouchers = vouchers) =>
  by.isSigned(voucher, payer, signature, AbortSignal.timeout(waitLimitMs))

describe('a voucher', () => {
  const wallet = createEoa()

  it('is what the open answer shows, so that a wallet can sign it as it is', () => {
    expect(vouchers.describe(voucher)).toEqual({
      domain: { name: 'Quittance Stream', version: '1', chainId: chain.chainId },
      types: {
        EIP712Domain: [
          { name: 'name', type: 'string' },
          { name: 'version', type: 'string' },
          { name: 'chainId', type: 'uint256' },
        ],
        Voucher: [
          { name: 'streamId', type: 'string' },
          { name: 'amount', type: 'uint256' },
          { name: 'sequence', type: 'uint256' },
        ],
      },
      primaryType: 'Voucher',
      message: { streamId: voucher.streamId, amount: String(voucher.amount), sequence: '7' },
    })
  })

  it('of a key is accepted in every form of its signature, but with a high s', async () => {
    const signature = await sign(wallet)
    for (const form of [
      signature,
      toParityV(signature),
      toCompact(signature),
      `0x${signature.slice(2).toUpperCase()}`,
    ]) {
      expect(await isSigned(wallet.address, form)).toBe(true)
      expect(await isSigned(wallet.address.toLowerCase(), form)).toBe(true)
    }
    expect(await isSigned(wallet.address, toHighS(signature))).toBe(false)
  })

  it.each([
    ['another stream', { ...voucher, streamId: randomUUID() }],
    ['another amount', { ...voucher, amount: 1n }],
    ['another sequence', { ...voucher, sequence: 8n }],
  ])('over %s is refused', async (_name, other) => {
    expect(await isSigned(wallet.address, await sign(wallet, other))).toBe(false)
  })

  it('of another chain, or of another key, is refused', async () => {
    expect(await isSigned(wallet.address, await sign(wallet, voucher, 1))).toBe(false)
    expect(await isSigned(wallet.address, await sign(createEoa()))).toBe(false)
  })

  it.each([
    '',
    '0x',
    '0x0',
    'abc',
    `0x${'00'.repeat(65)}`,
    `0x${'ff'.repeat(65)}`,
    `0x${'11'.repeat(8_193)}`,
  ])('with a malformed signature is refused: %#', async (signature) => {
    expect(await isSigned(wallet.address, signature)).toBe(false)
  })

  it('of a payer that is no address is refused', async () => {
    expect(await isSigned('alice', await sign(wallet))).toBe(false)
  })
})

describe('a voucher of a wallet contract', () => {
  const wrap = (wallet: PayerWallet, signature: Hex): Hex => {
    const { deployment } = wallet
    if (deployment === null) throw new Error('The wallet is deployed')
    return serializeErc6492Signature({
      address: deployment.factory,
      data: deployment.factoryData,
      signature,
    })
  }

  it('is checked by the contract (EIP-1271), and before it is deployed by ERC-6492', async () => {
    const wallet = await createSoladyWallet(chain)
    const signature = await sign(wallet)
    expect(await isSigned(wallet.address, signature)).toBe(false)
    expect(await isSigned(wallet.address, wrap(wallet, signature))).toBe(true)
    expect(await chain.client.getCode({ address: wallet.address })).toBeUndefined()
    await deployWallet(chain, wallet)
    expect(await isSigned(wallet.address, signature)).toBe(true)
    expect(await isSigned(createEoa().address, signature)).toBe(false)
  })

  it('is refused where its contract refuses it, and where no contract can be asked', async () => {
    const refuser = await createMoodyWallet(chain, 'refusesAll')
    await deployWallet(chain, refuser)
    expect(await isSigned(refuser.address, await sign(refuser))).toBe(false)
    const wallet = await createSoladyWallet(chain)
    await deployWallet(chain, wallet)
    const keysOnly = createVouchers({ chainId: chain.chainId, contractReader: null })
    expect(await isSigned(wallet.address, await sign(wallet), keysOnly)).toBe(false)
    const key = createEoa()
    expect(await isSigned(key.address, await sign(key), keysOnly)).toBe(true)
  })

  it('throws if no node answers, so that it is not taken for a wrong one', async () => {
    const unreachable: ContractReader = {
      network: chain.network,
      run: () => Promise.reject(new Error('The node does not answer')),
    }
    const blind = createVouchers({ chainId: chain.chainId, contractReader: unreachable })
    const wallet = await createSoladyWallet(chain)
    await expect(isSigned(wallet.address, await sign(wallet), blind)).rejects.toThrow('does not answer')
  })
})
