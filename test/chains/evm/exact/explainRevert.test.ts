import fc from 'fast-check'
import { encodeErrorResult, type Hex, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import { explainRevert, isNotYetValid } from '../../../../src/chains/evm/exact/call.js'
import { anyText } from '../../../support/anyText.js'
import { randomAddress, randomHex } from '../../../support/evm/authorization.js'

const authorization = {
  from: randomAddress(),
  to: randomAddress(),
  value: 100n,
  validAfter: 0n,
  validBefore: 10n,
  nonce: randomHex(32),
}
const plain = { deploysWallet: false }
const rich = { isUsed: false, balance: 100n }
const revert = (text: string) => ({
  data: encodeErrorResult({ abi: parseAbi(['error Error(string message)']), args: [text] }),
  message: 'execution reverted',
})
const reasonOf = (text: string, facts = rich) =>
  explainRevert(revert(text), facts, authorization, plain).reason

describe('explainRevert', () => {
  it.each([
    // Messages of FiatToken.
    ['FiatTokenV2: authorization is used or canceled', 'invalid_exact_evm_nonce_already_used'],
    ['FiatTokenV2: authorization is expired', 'invalid_exact_evm_payload_authorization_valid_before'],
    ['FiatTokenV2: authorization is not yet valid', 'invalid_exact_evm_payload_authorization_valid_after'],
    ['FiatTokenV2: invalid signature', 'invalid_exact_evm_payload_signature'],
    ['ECRecover: invalid signature', 'invalid_exact_evm_payload_signature'],
    ["ECRecover: invalid signature 's' value", 'invalid_exact_evm_payload_signature'],
    ['ERC20: transfer amount exceeds balance', 'insufficient_funds'],
    ['Pausable: paused', 'token_paused'],
    ['Blacklistable: account is blacklisted', 'account_blocked'],
    ['something else', 'invalid_exact_evm_transaction_simulation_failed'],
  ])('recognizes %j', (text, reason) => {
    expect(reasonOf(text)).toBe(reason)
    expect(
      explainRevert({ data: null, message: `execution reverted: ${text}` }, rich, authorization, plain),
    ).toMatchObject({
      reason,
    })
  })

  it("prefers the token's state to any message", () => {
    expect(reasonOf('Pausable: paused', { isUsed: true, balance: 0n })).toBe(
      'invalid_exact_evm_nonce_already_used',
    )
    const unknown = { isUsed: null, balance: 0n }
    expect(explainRevert(revert('paused'), unknown, authorization, plain).reason).toBe(
      'invalid_exact_evm_eip3009_not_supported',
    )
  })

  it('prefers an invalid signature to a low balance, and a low balance to an empty revert', () => {
    const poor = { isUsed: false, balance: 99n }
    expect(reasonOf('FiatTokenV2: invalid signature', poor)).toBe('invalid_exact_evm_payload_signature')
    expect(explainRevert({ data: '0x', message: '' }, poor, authorization, plain).reason).toBe(
      'insufficient_funds',
    )
  })

  it.each(['out of gas', 'EVM error OutOfGas', 'gas required exceeds allowance (500000)'])(
    'treats %j as exceeding the gas limit',
    (message) => {
      expect(explainRevert({ data: null, message }, rich, authorization, plain).reason).toBe(
        'gas_limit_exceeded',
      )
    },
  )

  it('reports the deployment when no other cause is known', () => {
    const failure = { data: null, message: 'execution reverted: Multicall3: call failed' }
    expect(explainRevert(failure, rich, authorization, { deploysWallet: true }).reason).toBe(
      'smart_wallet_deployment_failed',
    )
  })

  it('never throws, and returns at most one short printable line without URLs', () => {
    const data = fc
      .option(fc.uint8Array({ maxLength: 200 }))
      .map((bytes): Hex | null => (bytes === null ? null : `0x${Buffer.from(bytes).toString('hex')}`))
    const words = fc.oneof(
      anyText({ maxLength: 400 }),
      fc.string().map((text) => `${text} https://node.example/v2/${text}k3y`),
    )
    fc.assert(
      fc.property(data, words, fc.boolean(), (bytes, message, isText) => {
        const failure = isText ? revert(message) : { data: bytes, message }
        const { message: told = '' } = explainRevert(failure, rich, authorization, plain)
        expect(told).toMatch(/^[\x20-\x7e]*$/)
        expect(told.length).toBeLessThan(250)
        expect(told).not.toContain('node.example')
      }),
    )
  })
})

describe('isNotYetValid', () => {
  it('is true only for the message of a token before validAfter', () => {
    expect(isNotYetValid(revert('FiatTokenV2: authorization is not yet valid'))).toBe(true)
    expect(isNotYetValid({ data: null, message: 'execution reverted: not yet valid' })).toBe(true)
    expect(isNotYetValid(revert('FiatTokenV2: authorization is expired'))).toBe(false)
  })
})
