import { type Address, type Hex, hashTypedData, zeroHash } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  hashChannel,
  hashClaims,
  hashDepositNonce,
  hashRefund,
  hashVoucher,
  isIdOf,
} from '../../../../src/chains/evm/channels/contract.js'
import { normalizeKeySignature } from '../../../../src/chains/evm/channels/signatures.js'
import { randomHex } from '../../../support/evm/authorization.js'
import {
  channelConfig,
  channelIdOf,
  erc3009DepositNonce,
  refundTypedData,
  signVoucher,
  voucherTypedData,
} from '../../../support/evm/channels.js'
import { toHighS, toParityV } from '../../../support/evm/signatureForms.js'
import { createEoa } from '../../../support/evm/wallets.js'

const chainId = 84_532
const address = (digit: number): Address => `0x${digit.toString(16).padStart(40, '0')}`

/** What the published contract answers for these terms. */
const published = {
  config: {
    payer: address(1),
    payerAuthorizer: address(2),
    receiver: address(3),
    receiverAuthorizer: address(4),
    token: address(5),
    withdrawDelay: 900,
    salt: zeroHash,
  },
  channelId: '0x544924a10a10b54a1b4389746d7205f08ddd246d58640217673fb24b1430fabe',
  claims: '0x597b1fae22a2b365a81f02b50a82bd936df29c408b551456e090dcce2b1c006f',
} as const satisfies { channelId: Hex; claims: Hex; config: object }

describe('the digests of a channel', () => {
  it('are those of the published contract', () => {
    const { config, channelId, claims } = published
    expect(hashChannel(chainId, config)).toBe(channelId)
    expect(hashClaims(chainId, [{ channelId, maxClaimable: 5_000n, totalClaimed: 3_900n }])).toBe(claims)
  })

  it('are EIP-712 of every field, and bind the chain', () => {
    const config = channelConfig({ salt: randomHex(32), withdrawDelay: 2_592_000 })
    const id = channelIdOf(chainId, config)
    expect(hashChannel(chainId, config)).toBe(id)
    expect(hashChannel(chainId + 1, config)).not.toBe(id)
    expect(hashVoucher(chainId, id, 7n)).toBe(hashTypedData(voucherTypedData(chainId, id, 7n)))
    expect(hashRefund(chainId, id, { nonce: 3n, amount: 9n })).toBe(
      hashTypedData(refundTypedData(chainId, id, 3n, 9n)),
    )
    const salt = randomHex(32)
    expect(hashDepositNonce(id, salt)).toBe(erc3009DepositNonce(id, salt))
  })

  it('name a config again without a hash, and never another config or chain', () => {
    const config = channelConfig({ salt: randomHex(32) })
    const id = channelIdOf(chainId, config)
    const others = [
      { payer: address(9) },
      { payerAuthorizer: address(9) },
      { receiver: address(9) },
      { receiverAuthorizer: address(9) },
      { token: address(9) },
      { withdrawDelay: config.withdrawDelay + 1 },
      { salt: randomHex(32) },
    ].map((change) => ({ ...config, ...change }))
    for (let round = 0; round < 2; round += 1) {
      expect(isIdOf(chainId, id, config)).toBe(true)
      expect(isIdOf(chainId + 1, id, config)).toBe(false)
      for (const other of others) expect(isIdOf(chainId, id, other)).toBe(false)
    }
  })
})

describe('a signature of a key', () => {
  it('is brought into the one form that the contract takes', async () => {
    const signature = await signVoucher({ chainId }, createEoa(), channelConfig(), 1n)
    for (const form of [signature, toHighS(signature), toParityV(signature), toParityV(toHighS(signature))]) {
      expect(normalizeKeySignature(form)).toBe(signature)
    }
  })

  it('of another length is left as it is', () => {
    expect(normalizeKeySignature('0x1234')).toBe('0x1234')
  })
})
