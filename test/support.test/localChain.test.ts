import { once } from 'node:events'
import { domainSeparator, encodeFunctionData, maxUint256, parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startAnvil } from '../support/evm/anvil.js'
import { randomAddress, unixNow } from '../support/evm/authorization.js'
import { waitForReceipt } from '../support/evm/chainControl.js'
import { callRpc } from '../support/evm/jsonRpc.js'
import { type LocalChain, multicall3Address, startLocalChain, usdcAbi } from '../support/evm/localChain.js'
import { type ExactPaymentOptions, exactPayment } from '../support/evm/payment.js'
import { toCompact, toHighS, toParityV } from '../support/evm/signatureForms.js'
import { encodeTransfer, type TransferForm } from '../support/evm/transfer.js'
import {
  createDelegatedEoa,
  createEoa,
  createMoodyWallet,
  createSafeWallet,
  createSoladyWallet,
  deployWallet,
  type PayerWallet,
} from '../support/evm/wallets.js'
import { pollUntil } from '../support/pollUntil.js'
import { findProgram } from '../support/program.js'
import { spawnChild } from '../support/spawnChild.js'

let chain: LocalChain

beforeAll(async () => {
  chain = await startLocalChain()
})
afterAll(() => chain.stop())

const relayer = async () => {
  const { account } = createEoa()
  await chain.fundGas(account.address)
  return account
}

const settle = async (
  options: Omit<ExactPaymentOptions, 'chain'>,
  form: TransferForm = 'bytes',
): Promise<'success' | 'reverted'> => {
  const body = await exactPayment({ chain, ...options })
  // A fixed gas limit skips estimation, which would fail.
  const { status } = await chain.send({
    account: await relayer(),
    gas: 2_000_000n,
    ...encodeTransfer(body, form),
  })
  return status
}

describe('a local chain', () => {
  it("has the token at the address of the chain's USDC, with its name and version", async () => {
    const address = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
    const read = async (functionName: 'name' | 'version' | 'decimals' | 'DOMAIN_SEPARATOR') =>
      chain.client.readContract({ address, abi: usdcAbi, functionName })
    expect(chain.token).toEqual({ name: 'USDC', version: '2', chainId: 84532, verifyingContract: address })
    expect(await read('name')).toBe('USDC')
    expect(await read('version')).toBe('2')
    expect(await read('decimals')).toBe(6)
    expect(await read('DOMAIN_SEPARATOR')).toBe(domainSeparator({ domain: { ...chain.token } }))
  })

  it('has Multicall3 and facilitator keys with gas', async () => {
    expect(await chain.client.getCode({ address: multicall3Address })).toMatch(/^0x6080/)
    expect(chain.facilitators).toHaveLength(3)
    for (const { address } of chain.facilitators) {
      expect(await chain.client.getBalance({ address })).toBe(parseEther('100'))
    }
  })

  it('can have another chain id and interval mining', async () => {
    const other = await startLocalChain({ chainId: 8453, blockTimeSeconds: 0.2, facilitatorCount: 1 })
    try {
      const before = await other.control.getHead()
      await pollUntil(async () => (await other.control.getHead()).number > before.number, 'a block')
      expect(other.token.name).toBe('USD Coin')
      expect(other.network).toBe('eip155:8453')
    } finally {
      await other.stop()
    }
  })

  it('mints, pauses and blacklists without a block', async () => {
    const owner = randomAddress()
    const { number } = await chain.control.getHead()
    const read = (functionName: 'paused' | 'totalSupply') =>
      chain.client.readContract({ address: chain.token.verifyingContract, abi: usdcAbi, functionName })
    const supply = BigInt(await read('totalSupply'))
    await Promise.all([chain.mint(owner, 5n), chain.mint(owner, 7n)])
    expect(await chain.balanceOf(owner)).toBe(12n)
    expect(await read('totalSupply')).toBe(supply + 12n)

    await chain.setPaused(true)
    expect(await read('paused')).toBe(true)
    await chain.setPaused(false)
    expect(await read('paused')).toBe(false)

    const isBlacklisted = () =>
      chain.client.readContract({
        address: chain.token.verifyingContract,
        abi: usdcAbi,
        functionName: 'isBlacklisted',
        args: [owner],
      })
    await chain.setBlacklisted(owner, true)
    expect(await isBlacklisted()).toBe(true)
    await chain.setBlacklisted(owner, false)
    expect(await isBlacklisted()).toBe(false)
    expect(await chain.balanceOf(owner)).toBe(12n)
    expect((await chain.control.getHead()).number).toBe(number)
  })

  it('rejects chains without a known USDC', async () => {
    await expect(startLocalChain({ chainId: 31337 })).rejects.toThrow('Chain 31337 has no known USDC')
  })

  it('fails with the output of anvil if it does not start', async () => {
    await expect(startAnvil({ chainId: 1, extraArgs: ['--no-such-option'] })).rejects.toThrow(
      'no-such-option',
    )
  })

  it('ends with the process that started it, even after SIGKILL', async () => {
    const { flags, file } = findProgram(new URL('../support/evm/anvil.ts', import.meta.url))
    const script = `
      const { startAnvil } = await import('${file}')
      process.stdout.write((await startAnvil({ chainId: 1 })).url)
      setInterval(() => {}, 1000)`
    const parent = spawnChild([process.execPath, ...flags, '--input-type=module', '-e', script], {})
    const [url] = await once(parent.stdout, 'data')
    expect(await callRpc(String(url), 'eth_chainId')).toBe('0x1')
    parent.kill('SIGKILL')
    const isGone = () =>
      callRpc(String(url), 'eth_chainId').then(
        () => false,
        () => true,
      )
    await pollUntil(isGone, 'the chain to end')
  })
})

describe('a payment', () => {
  const wallets: readonly [string, () => Promise<PayerWallet>][] = [
    ['an EOA', async () => createEoa()],
    ['a deployed Solady wallet', async () => deployWallet(chain, await createSoladyWallet(chain))],
    ['a counterfactual Solady wallet', () => createSoladyWallet(chain)],
    ['a deployed Safe', async () => deployWallet(chain, await createSafeWallet(chain))],
    ['a counterfactual Safe', () => createSafeWallet(chain)],
    ['a delegated EOA that checks signatures', () => createDelegatedEoa(chain, { checksSignatures: true })],
    ['a counterfactual wallet that accepts all', () => createMoodyWallet(chain, 'acceptsAll')],
  ]

  it.each(wallets)('of %s moves USDC', async (_name, create) => {
    const wallet = await create()
    const payTo = randomAddress()
    await chain.mint(wallet.address, 25_000n)
    expect(await settle({ wallet, payTo, amount: 10_000n })).toBe('success')
    expect(await chain.balanceOf(payTo)).toBe(10_000n)
    expect(await chain.balanceOf(wallet.address)).toBe(15_000n)
  })

  it('of an EOA moves USDC with v, r and s', async () => {
    const wallet = createEoa()
    await chain.mint(wallet.address, 10_000n)
    expect(await settle({ wallet }, 'vrs')).toBe('success')
    expect(await chain.balanceOf(wallet.address)).toBe(0n)
  })

  it('of a delegated EOA without signature checks reverts, although its key signed', async () => {
    const wallet = await createDelegatedEoa(chain, { checksSignatures: false })
    await chain.mint(wallet.address, 10_000n)
    expect(await settle({ wallet })).toBe('reverted')
    expect(await settle({ wallet }, 'vrs')).toBe('reverted')
    expect(await chain.balanceOf(wallet.address)).toBe(10_000n)
  })

  it('of a wallet that accepts only simulations reverts when it is mined', async () => {
    const wallet = await deployWallet(chain, await createMoodyWallet(chain, 'acceptsInSimulation'))
    await chain.mint(wallet.address, 10_000n)
    const body = await exactPayment({ chain, wallet })
    await chain.client.call(encodeTransfer(body))
    expect(await settle({ wallet })).toBe('reverted')
  })

  it.each([
    ['a high s', toHighS],
    ['v of 0 or 1', toParityV],
    ['the compact form', toCompact],
  ])('with %s reverts', async (_name, change) => {
    const wallet = createEoa()
    await chain.mint(wallet.address, 10_000n)
    const { paymentPayload } = await exactPayment({ chain, wallet })
    const { authorization, signature } = paymentPayload.payload
    expect(await settle({ wallet, authorization, signature: change(signature) })).toBe('reverted')
    expect(await settle({ wallet, authorization, signature })).toBe('success')
  })

  it.each<[string, Partial<Omit<ExactPaymentOptions, 'chain'>>]>([
    ['is more than the balance', { amount: 10_001n }],
    ['is more than any balance', { amount: maxUint256 }],
    ['has expired', { now: unixNow() - 1_000 }],
    ['has not started', { now: unixNow() + 10_000 }],
    ['is signed by another key', { authorization: { from: randomAddress() } }],
  ])('that %s reverts', async (_name, options) => {
    const wallet = createEoa()
    await chain.mint(wallet.address, 10_000n)
    expect(await settle({ wallet, ...options })).toBe('reverted')
  })

  it('reverts while the token is paused or the payer is blacklisted', async () => {
    const wallet = createEoa()
    await chain.mint(wallet.address, 10_000n)
    await chain.setPaused(true)
    expect(await settle({ wallet })).toBe('reverted')
    await chain.setPaused(false)
    await chain.setBlacklisted(wallet.address, true)
    expect(await settle({ wallet })).toBe('reverted')
    await chain.setBlacklisted(wallet.address, false)
    expect(await settle({ wallet })).toBe('success')
  })

  it('can be settled once', async () => {
    const wallet = createEoa()
    await chain.mint(wallet.address, 50_000n)
    const { authorization } = (await exactPayment({ chain, wallet })).paymentPayload.payload
    expect(await settle({ wallet, authorization })).toBe('success')
    expect(await settle({ wallet, authorization })).toBe('reverted')
  })
})

describe('chain control', () => {
  const send = async (from = randomAddress()) => {
    await chain.fundGas(from)
    return chain.control.sendAs({ from, to: chain.token.verifyingContract, gas: 100_000n, value: 0n })
  }
  const isKnown = async (hash: string) =>
    (await callRpc(chain.url, 'eth_getTransactionByHash', [hash])) !== null

  it('reverts to a snapshot', async () => {
    const owner = randomAddress()
    const snapshot = await chain.control.snapshot()
    await chain.mint(owner, 1n)
    await chain.control.revert(snapshot)
    expect(await chain.balanceOf(owner)).toBe(0n)
    await expect(chain.control.revert(snapshot)).rejects.toThrow('no snapshot')
  })

  it('holds transactions in the mempool, drops one and mines the others', async () => {
    await chain.control.setAutomine(false)
    const [dropped, kept] = [await send(), await send()]
    await chain.control.dropTransaction(dropped)
    await chain.control.mine()
    await chain.control.setAutomine(true)
    expect(await isKnown(dropped)).toBe(false)
    expect(await callRpc(chain.url, 'eth_getTransactionReceipt', [kept])).not.toBeNull()
  })

  it('removes mined transactions by a reorg', async () => {
    const wallet = createEoa()
    const payTo = randomAddress()
    await chain.mint(wallet.address, 10_000n)
    await chain.control.mine()
    const before = await chain.control.getHead()
    expect(await settle({ wallet, payTo })).toBe('success')
    expect(await chain.balanceOf(payTo)).toBe(10_000n)
    const settled = await chain.control.getHead()
    await chain.control.reorg(1)
    const after = await chain.control.getHead()
    expect(settled.number).toBe(before.number + 1n)
    expect(after.number).toBe(settled.number)
    expect(after.hash).not.toBe(settled.hash)
    expect(await chain.balanceOf(payTo)).toBe(0n)
  })

  it('mines given transactions in the blocks of a reorg', async () => {
    const payer = createEoa()
    const payTo = randomAddress()
    await chain.mint(payer.address, 10_000n)
    const account = await relayer()
    const signed = await account.signTransaction({
      ...encodeTransfer(await exactPayment({ chain, wallet: payer, payTo })),
      chainId: chain.chainId,
      nonce: 0,
      gas: 200_000n,
      maxFeePerGas: parseEther('0.00000001'),
    })
    await chain.control.mine(2)
    await chain.control.reorg(1, [signed])
    expect(await chain.balanceOf(payTo)).toBe(10_000n)
  })

  it('moves the clock', async () => {
    const snapshot = await chain.control.snapshot()
    const { timestamp } = await chain.control.getHead()
    await chain.control.setNextBlockTimestamp(timestamp + 5_000)
    await chain.control.mine()
    expect((await chain.control.getHead()).timestamp).toBe(timestamp + 5_000)
    await chain.control.increaseTime(1_000)
    await chain.control.mine()
    expect((await chain.control.getHead()).timestamp).toBeGreaterThanOrEqual(timestamp + 6_000)
    await chain.control.revert(snapshot)
  })

  it('sends from an address without its key', async () => {
    const holder = randomAddress()
    const payTo = randomAddress()
    await chain.mint(holder, 3n)
    await chain.fundGas(holder)
    const hash = await chain.control.sendAs({
      from: holder,
      to: chain.token.verifyingContract,
      data: encodeFunctionData({
        abi: [
          {
            type: 'function',
            name: 'transfer',
            stateMutability: 'nonpayable',
            inputs: [{ type: 'address' }, { type: 'uint256' }],
            outputs: [{ type: 'bool' }],
          },
        ],
        args: [payTo, 3n],
      }),
    })
    expect((await waitForReceipt(chain.client, hash)).status).toBe('success')
    expect(await chain.balanceOf(payTo)).toBe(3n)
  })
})
