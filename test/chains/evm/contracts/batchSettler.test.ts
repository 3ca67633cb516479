import fc from 'fast-check'
import {
  type Address,
  concatHex,
  decodeEventLog,
  encodeFunctionData,
  getAddress,
  type Hex,
  hexToBigInt,
  keccak256,
  parseAbi,
  type TransactionReceipt,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { batchSettler } from '../../../../src/chains/evm/contracts/batchSettler.js'
import { deploymentProxy } from '../../../../src/chains/evm/contracts/deployedContract.js'
import type { ContractCall } from '../../../../src/chains/evm/transactions/settlementCall.js'
import { getArtifact } from '../../../support/contracts/artifacts.js'
import { randomAddress } from '../../../support/evm/authorization.js'
import { waitForReceipt } from '../../../support/evm/chainControl.js'
import { type LocalChain, startLocalChain, usdcAbi } from '../../../support/evm/localChain.js'
import { exactPayment } from '../../../support/evm/payment.js'
import { deployTestToken } from '../../../support/evm/testTokens.js'
import { encodeTransfer } from '../../../support/evm/transfer.js'
import { createEoa, createSafeWallet, deployWallet } from '../../../support/evm/wallets.js'
import { transferBatch } from '../batchContracts.js'

/* The contract itself, on a local chain: what tokens receive, what a hostile one can do, and what it refuses. */

const abi = parseAbi(['function settle(bytes batch) returns (uint256 executed)', 'error MalformedBatch()'])
const hostileAbi = parseAbi([
  'function setReentry(bytes next)',
  'event Called(bytes data, bool isReentrySuccessful)',
])
/** By the value of a payment. */
const behaviours = {
  succeeds: 0n,
  returnsFalse: 1n,
  reverts: 2n,
  burnsGas: 3n,
  returnsMuch: 4n,
  revertsWithMuch: 5n,
  reenters: 6n,
} as const

let chain: LocalChain
let tokens: readonly Address[]
const sender = createEoa()

beforeAll(async () => {
  chain = await startLocalChain()
  await chain.fundGas(sender.address)
  const artifact = getArtifact('HostileToken3009')
  tokens = [await chain.deploy(artifact), await chain.deploy(artifact)]
})
afterAll(() => chain.stop())

const send = (call: ContractCall, gas = 8_000_000n): Promise<TransactionReceipt> =>
  chain.send({ account: sender.account, to: call.to, data: call.data, gas })

const settleBytes = (batch: Hex): ContractCall => ({
  to: batchSettler.address,
  data: encodeFunctionData({ abi, functionName: 'settle', args: [batch] }),
})

/** The packed bytes of planned calldata: after the selector, the offset and the length. */
const packedOf = ({ data }: ContractCall): Hex => {
  const length = Number(hexToBigInt(`0x${data.slice(74, 138)}`))
  return `0x${data.slice(138, 138 + length * 2)}`
}

/** Which calls did not revert, by the contract's own result. */
const readExecuted = async (calls: readonly ContractCall[], gas = 8_000_000n) => {
  const plan = transferBatch.plan(calls)
  const { data } = await chain.client.call({ account: sender.address, to: plan.to, data: plan.data, gas })
  return plan.readResults(data ?? '0x')
}

/** What hostile tokens were called with. */
const readCalled = ({ logs }: TransactionReceipt) =>
  logs.flatMap(({ address, topics, data }) => {
    if (!tokens.includes(getAddress(address))) return []
    const { args } = decodeEventLog({ abi: hostileAbi, topics, data })
    return [{ token: getAddress(address), ...args }]
  })

const hex = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
/** From a small pool, so that neighbours share terms. */
const fewAddresses = fc.constantFrom(...Array.from({ length: 3 }, randomAddress))
const fewTimes = fc.constantFrom(0n, 1_700_000_000n, 2n ** 256n - 1n)

const signatures = fc.oneof(
  fc.record({
    v: fc.constantFrom(27, 28),
    r: hex(32),
    s: fc.bigInt({ min: 0n, max: 2n ** 255n - 1n }),
  }),
  fc.integer({ min: 0, max: 200 }).chain(hex),
)

const encode = (
  terms: readonly [Hex, Hex, bigint, bigint, bigint, Hex],
  signature: Hex | { readonly v: number; readonly r: Hex; readonly s: bigint },
): Hex =>
  typeof signature === 'string'
    ? encodeFunctionData({
        abi: usdcAbi,
        functionName: 'transferWithAuthorization',
        args: [...terms, signature],
      })
    : encodeFunctionData({
        abi: usdcAbi,
        functionName: 'transferWithAuthorization',
        args: [...terms, signature.v, signature.r, `0x${signature.s.toString(16).padStart(64, '0')}`],
      })

const callsWith = (value: fc.Arbitrary<bigint>, maxLength: number) =>
  fc.array(
    fc
      .record({
        token: fc.integer({ min: 0, max: 1 }),
        terms: fc.tuple(hex(20), fewAddresses, value, fewTimes, fewTimes, hex(32)),
        signature: signatures,
      })
      .map(({ token, terms, signature }): ContractCall => {
        const to = tokens[token]
        if (to === undefined) throw new Error('There is no such token')
        return { to, data: encode(terms, signature) }
      }),
    { minLength: 1, maxLength },
  )

const behaviourOf = ({ data }: ContractCall): bigint => hexToBigInt(`0x${data.slice(138, 202)}`) % 7n
const describeCall = ({ to, data }: ContractCall): string => `${getAddress(to)} ${data}`

/** A signed payment in USDC by a funded account. */
const planUsdc = async (wallet = createEoa()) => {
  await chain.mint(wallet.address, 10_000n)
  const payTo = randomAddress()
  const body = await exactPayment({ chain, wallet, payTo, amount: 10_000n })
  return { payTo, wallet, call: encodeTransfer(body, 'vrs'), bytesCall: encodeTransfer(body, 'bytes') }
}

const runs = { numRuns: 30 }

describe('the batch contract', () => {
  it('is what its source compiles to, at the address that its init code has everywhere', async () => {
    await chain.control.setCode(batchSettler.address, '0x')
    const data = concatHex([`0x${'00'.repeat(32)}`, batchSettler.initCode])
    await send({ to: deploymentProxy, data }, 1_000_000n)
    const code = await chain.client.getCode({ address: batchSettler.address })
    expect(keccak256(code ?? '0x')).toBe(batchSettler.codeHash)
  })

  it('calls each token with exactly the calldata that was packed, in both forms of signature', async () => {
    const everything = uint256.map((value) => value - (value % 7n))
    await fc.assert(
      fc.asyncProperty(callsWith(everything, 12), async (calls) => {
        const receipt = await send(transferBatch.plan(calls))
        expect(receipt.status).toBe('success')
        const called = readCalled(receipt).map(({ token, data }) => describeCall({ to: token, data }))
        expect(called.sort()).toEqual(calls.map(describeCall).sort())
        expect(await readExecuted(calls)).toEqual(calls.map(() => true))
      }),
      runs,
    )
  })

  it('makes every call whatever the others do: revert, burn all gas, return much', async () => {
    await waitForReceipt(
      chain.client,
      await chain.control.sendAs({
        from: sender.address,
        to: tokens[0] ?? '0x',
        data: encodeFunctionData({ abi: hostileAbi, functionName: 'setReentry', args: ['0x'] }),
        gas: 200_000n,
      }),
    )
    await fc.assert(
      fc.asyncProperty(callsWith(fc.bigInt({ min: 0n, max: 6n }), 50), async (calls) => {
        // The limit of the engine's batches.
        const gas = 21_000n + 100_000n * BigInt(calls.length)
        const receipt = await send(transferBatch.plan(calls), gas)
        expect(receipt.status).toBe('success')
        const good = calls.filter(
          (call) =>
            behaviourOf(call) === behaviours.succeeds || behaviourOf(call) === behaviours.returnsFalse,
        )
        const called = readCalled(receipt).map(({ token, data }) => describeCall({ to: token, data }))
        expect(called).toEqual(expect.arrayContaining(good.map(describeCall)))
        const executed = await readExecuted(calls, gas)
        for (const [index, call] of calls.entries()) {
          const value = behaviourOf(call)
          if (value === behaviours.reverts || value === behaviours.burnsGas)
            expect(executed?.[index]).toBe(false)
          if (good.includes(call)) expect(executed?.[index]).toBe(true)
        }
      }),
      runs,
    )
  })

  it('gives a call that burns its gas no more than an equal share', async () => {
    // Recipients decide the order: the burner is first.
    const plan = (to: Hex, value: bigint): ContractCall => ({
      to: tokens[0] ?? '0x',
      data: encode([randomAddress(), to, value, 0n, 0n, `0x${'01'.repeat(32)}`], '0x'),
    })
    const burner = plan(`0x${'00'.repeat(20)}`, behaviours.burnsGas)
    const others = Array.from({ length: 9 }, () => plan(`0x${'ff'.repeat(20)}`, behaviours.succeeds))
    const receipt = await send(transferBatch.plan([burner, ...others]), 21_000n + 100_000n * 10n)
    expect(readCalled(receipt)).toHaveLength(9)
    expect(receipt.gasUsed).toBeLessThan(21_000n + 2n * 100_000n + 9n * 10_000n)
  })

  it('moves a payment that is included twice once', async () => {
    const { call, payTo, wallet } = await planUsdc()
    await chain.mint(wallet.address, 10_000n)
    const other = await planUsdc()
    expect((await readExecuted([call, other.call, call]))?.filter(Boolean)).toHaveLength(2)
    expect((await send(transferBatch.plan([call, other.call, call]))).status).toBe('success')
    expect(await chain.balanceOf(payTo)).toBe(10_000n)
    expect(await chain.balanceOf(wallet.address)).toBe(10_000n)
    expect(await chain.balanceOf(other.payTo)).toBe(10_000n)
  })

  it('settles a payment of a contract wallet', async () => {
    const wallet = await deployWallet(chain, await createSafeWallet(chain))
    await chain.mint(wallet.address, 10_000n)
    const payTo = randomAddress()
    const body = await exactPayment({ chain, wallet, payTo, amount: 10_000n })
    const { call, payTo: otherPayTo } = await planUsdc()
    expect((await send(transferBatch.plan([encodeTransfer(body, 'bytes'), call]))).status).toBe('success')
    expect(await chain.balanceOf(payTo)).toBe(10_000n)
    expect(await chain.balanceOf(otherPayTo)).toBe(10_000n)
  })

  it('has no power that a token could use by calling it again', async () => {
    const inner = await planUsdc()
    const outer = await planUsdc()
    const token = tokens[1] ?? '0x'
    const reentry = transferBatch.plan([inner.call]).data
    const set = encodeFunctionData({ abi: hostileAbi, functionName: 'setReentry', args: [reentry] })
    await waitForReceipt(
      chain.client,
      await chain.control.sendAs({ from: sender.address, to: token, data: set, gas: 2_000_000n }),
    )
    const again: ContractCall = {
      to: token,
      data: encode(
        [randomAddress(), randomAddress(), behaviours.reenters, 0n, 0n, `0x${'02'.repeat(32)}`],
        '0x',
      ),
    }
    // The inner payment is in the batch too: the token's own call settles it first, and it moves once.
    const receipt = await send(transferBatch.plan([again, inner.call, outer.call]))
    expect(receipt.status).toBe('success')
    expect(readCalled(receipt)).toMatchObject([{ isReentrySuccessful: true }])
    expect(await chain.balanceOf(inner.payTo)).toBe(10_000n)
    expect(await chain.balanceOf(outer.payTo)).toBe(10_000n)
  })

  it('moves what an honest token moves: a fee on transfer stays the token’s', async () => {
    const token = await deployTestToken(chain, 'FeeOnTransferToken')
    const wallet = createEoa()
    await token.mint(wallet.address, 10_000n)
    const payTo = randomAddress()
    const body = await exactPayment({ chain: token, wallet, payTo, amount: 10_000n })
    const { call, payTo: otherPayTo } = await planUsdc()
    expect((await send(transferBatch.plan([encodeTransfer(body, 'vrs'), call]))).status).toBe('success')
    expect(await token.balanceOf(payTo)).toBe(9_900n)
    expect(await token.balanceOf(batchSettler.address)).toBe(0n)
    expect(await chain.balanceOf(otherPayTo)).toBe(10_000n)
  })
})

describe('the batch contract refuses', () => {
  const expectRefused = async (call: ContractCall, value = 0n): Promise<void> => {
    const { to, data } = call
    const { status, logs } = await chain.send({ account: sender.account, to, data, value, gas: 3_000_000n })
    expect({ status, logs }).toEqual({ status: 'reverted', logs: [] })
  }

  it('a batch that ends early or late, although its first payments are complete', async () => {
    await fc.assert(
      fc.asyncProperty(
        callsWith(fc.constant(behaviours.succeeds), 4),
        fc.nat(),
        hex(1),
        async (calls, at, byte) => {
          const packed = packedOf(transferBatch.plan(calls))
          const length = (packed.length - 2) / 2
          await expectRefused(settleBytes(`0x${packed.slice(2, 2 + (at % length) * 2)}`))
          await expectRefused(settleBytes(concatHex([packed, byte])))
        },
      ),
      runs,
    )
  })

  it('a count of other than its payments', async () => {
    const { call } = await planUsdc()
    const { call: second } = await planUsdc()
    const packed = packedOf(transferBatch.plan([call, second]))
    for (const count of ['00', '01', '03', 'ff']) {
      await expectRefused(settleBytes(`0x${count}${packed.slice(4)}`))
    }
  })

  it('an empty batch', async () => {
    await expectRefused(settleBytes('0x'))
    await expectRefused(settleBytes('0x00'))
  })

  it('a first payment that does not state all its terms, and flags that have no meaning', async () => {
    const { call } = await planUsdc()
    const packed = packedOf(transferBatch.plan([call]))
    // Flag, first byte and length of each term.
    const terms = [
      [1, 2, 20],
      [2, 22, 20],
      [4, 42, 64],
      [8, 106, 32],
    ] as const
    for (const [flag, start, length] of terms) {
      const flags = (15 - flag).toString(16).padStart(2, '0')
      const rest = packed.slice(6, 2 + start * 2) + packed.slice(2 + (start + length) * 2)
      await expectRefused(settleBytes(`0x01${flags}${rest}`))
    }
    for (const flags of ['2f', '8f']) await expectRefused(settleBytes(`0x01${flags}${packed.slice(6)}`))
    await expect(
      chain.client.simulateContract({
        address: batchSettler.address,
        abi,
        functionName: 'settle',
        args: [`0x0100${packed.slice(6)}`],
      }),
    ).rejects.toThrow(/MalformedBatch/)
  })

  it('native coin, and every other function', async () => {
    const { call } = await planUsdc()
    const plan = transferBatch.plan([call])
    await expectRefused(plan, 1n)
    await expectRefused({ to: batchSettler.address, data: '0x' }, 1n)
    await expectRefused({ to: batchSettler.address, data: '0x' })
    await expectRefused({ ...call, to: batchSettler.address })
    await expectRefused({ to: batchSettler.address, data: `0x00000000${plan.data.slice(10)}` })
  })

  it('calldata that is not what the ABI encodes', async () => {
    const { call, payTo } = await planUsdc()
    const { to, data } = transferBatch.plan([call])
    const word = (value: bigint): string => value.toString(16).padStart(64, '0')
    for (const offset of [2n ** 255n, 2n ** 64n, 100_000n]) {
      await expectRefused({ to, data: `0x${data.slice(2, 10)}${word(offset)}${data.slice(74)}` })
    }
    for (const length of [2n ** 255n, 2n ** 64n, 100_000n]) {
      await expectRefused({ to, data: `0x${data.slice(2, 74)}${word(length)}${data.slice(138)}` })
    }
    await expectRefused({ to, data: `0x${data.slice(2, 10)}` })
    expect(await chain.balanceOf(payTo)).toBe(0n)
  })

  it('itself as a token: the call fails and the others are made', async () => {
    const { call, payTo } = await planUsdc()
    const itself = { to: batchSettler.address, data: call.data }
    expect(await readExecuted([itself, call])).toEqual([false, true])
    expect((await send(transferBatch.plan([itself, call]))).status).toBe('success')
    expect(await chain.balanceOf(payTo)).toBe(10_000n)
  })
})

describe('calls that the batch cannot carry', () => {
  const { to, data } = {
    to: randomAddress(),
    data: encode([randomAddress(), randomAddress(), 1n, 0n, 1n, `0x${'03'.repeat(32)}`], {
      v: 27,
      r: `0x${'04'.repeat(32)}`,
      s: 5n,
    }),
  }
  const bytesData = encode([randomAddress(), randomAddress(), 1n, 0n, 1n, `0x${'03'.repeat(32)}`], '0x0102')
  const replaceWord = (text: Hex, index: number, word: string): Hex =>
    `0x${text.slice(2, 10 + index * 64)}${word}${text.slice(10 + (index + 1) * 64)}`

  it.each<[string, Hex]>([
    ['another function', `0xa9059cbb${data.slice(10)}`],
    ['no calldata', '0x'],
    ['calldata that is too short', `0x${data.slice(2, -2)}`],
    ['calldata that is too long', `${data}00`],
    ['a payer with dirty bits', replaceWord(data, 0, 'f'.repeat(64))],
    ['a recipient with dirty bits', replaceWord(data, 1, 'f'.repeat(64))],
    ['a v other than 27 and 28', replaceWord(data, 6, '1'.padStart(64, '0'))],
    ['an s with its highest bit set', replaceWord(data, 8, 'f'.repeat(64))],
    ['bytes at another offset', replaceWord(bytesData, 6, '0'.repeat(64))],
    ['bytes longer than the calldata', replaceWord(bytesData, 7, 'ff'.padStart(64, '0'))],
    ['bytes with a huge length', replaceWord(bytesData, 7, 'f'.repeat(64))],
    ['bytes with dirty padding', `0x${bytesData.slice(2, -2)}ff`],
  ])('%s', (_what, changed) => {
    expect(transferBatch.canCarry({ to, data })).toBe(true)
    expect(transferBatch.canCarry({ to, data: bytesData })).toBe(true)
    expect(transferBatch.canCarry({ to, data: changed })).toBe(false)
    expect(() => transferBatch.plan([{ to, data: changed }])).toThrow('cannot be batched')
  })

  it('none, and more than 255', () => {
    expect(() => transferBatch.plan([])).toThrow('wrong size')
    expect(() => transferBatch.plan(Array.from({ length: 256 }, () => ({ to, data })))).toThrow('wrong size')
  })
})
