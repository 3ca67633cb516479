import fc from 'fast-check'
import { type Hex, keccak256 } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { larger, smaller } from '../../../../../src/chains/evm/abi/words.js'
import { signTransaction } from '../../../../../src/chains/evm/transactions/lanes/sendInLane.js'

const account = privateKeyToAccount(generatePrivateKey())
const wei = fc.bigInt({ min: 0n, max: 2n ** 96n })
const fees = fc.oneof(
  fc.record({ type: fc.constant('legacy' as const), gasPrice: wei }),
  fc.tuple(wei, wei).map(([left, right]) => ({
    type: 'eip1559' as const,
    maxFeePerGas: larger(left, right),
    maxPriorityFeePerGas: smaller(left, right),
  })),
)
const call = fc.record({
  to: fc.constant<Hex>('0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002'),
  data: fc.uint8Array({ maxLength: 2_000 }).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`),
})
const position = fc.record({
  chainId: fc.integer({ min: 1, max: 2 ** 31 }),
  nonce: fc.integer({ min: 0, max: 2 ** 31 }),
  gas: fc.bigInt({ min: 21_000n, max: 16_000_000n }),
})

it('a transaction has the bytes and the hash that its account gives it', async () => {
  await fc.assert(
    fc.asyncProperty(position, call, fees, async (where, what, price) => {
      const transaction = { ...where, ...what, value: 0n, ...price }
      const bytes = await account.signTransaction(transaction)
      expect(await signTransaction(account, transaction)).toEqual({ transaction: keccak256(bytes), bytes })
    }),
    { numRuns: 50 },
  )
})
