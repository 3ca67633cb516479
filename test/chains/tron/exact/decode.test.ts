import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeTransfer } from '../../../../src/chains/tron/exact/decode.js'
import { recoverSigner } from '../../../../src/chains/tron/exact/signature.js'
import { craftTransfer, goodCall, parties } from '../../../support/tron/craftTransfer.js'
import { fromHex } from '../../../support/tron/keys.js'
import { toHighS, toZeroBasedRecovery } from '../../../support/tron/signatureForms.js'
import { decodeTransaction } from '../../../support/tron/transaction.js'

const problemOf = (hex: string): string => {
  const reading = decodeTransfer(hex)
  return 'transfer' in reading ? 'none' : reading.problem
}

const readGood = (hex: string) => {
  const reading = decodeTransfer(hex)
  if ('reason' in reading) throw new Error(reading.problem)
  return reading.transfer
}

describe('decoding a signed transfer', () => {
  it('reads what another codec wrote', () => {
    const hex = craftTransfer()
    expect(readGood(hex)).toMatchObject({
      transaction: decodeTransaction(hex).id,
      bytes: hex,
      owner: parties.payer.hexAddress,
      contract: parties.token.hexAddress,
      to: parties.payee.hexAddress,
      value: 10_000n,
      feeLimit: 100_000_000n,
      data: goodCall,
    })
  })

  it('accepts upper case and a 0x prefix', () => {
    const hex = craftTransfer()
    expect(readGood(`0x${hex.toUpperCase()}`)).toEqual(readGood(hex))
  })

  it('finds the same id and signer in every accepted signature form, and no signer in the high-s form', () => {
    const hex = craftTransfer()
    const forms = [hex, toZeroBasedRecovery(hex), toHighS(hex)].map(readGood)
    expect(new Set(forms.map(({ transaction }) => transaction)).size).toBe(1)
    expect(forms.map(({ transaction, signature }) => recoverSigner(transaction, signature))).toEqual([
      parties.payer.hexAddress,
      parties.payer.hexAddress,
      null,
    ])
  })
})

describe('decoding anything else', () => {
  const padded = parties.payee.hexAddress.slice(2).padStart(64, '0')
  const amount = goodCall.slice(72)
  it.each<[string, string, string]>([
    ['an unknown field at the end', `${craftTransfer()}a20601aa`, 'is not in canonical encoding'],
    ['a result', `${craftTransfer()}2a021801`, 'carries a result'],
    ['no signature', craftTransfer({ signatureCount: 0 }), 'must have exactly one signature'],
    ['two signatures', craftTransfer({ signatureCount: 2 }), 'must have exactly one signature'],
    ['no contract', craftTransfer({ contractCount: 0 }), 'is too short'],
    ['two contracts', craftTransfer({ contractCount: 2 }), 'must have exactly one contract'],
    ['another contract type', craftTransfer({ contract: { type: 1 } }), 'must be a TriggerSmartContract'],
    [
      'another type in its parameter',
      craftTransfer({ typeUrl: 'type.googleapis.com/protocol.TransferContract' }),
      'names a type other than that of its contract',
    ],
    [
      'an active permission',
      craftTransfer({ contract: { Permission_id: 2 } }),
      'must be signed by the owner permission',
    ],
    ['a memo', craftTransfer({ raw: { data: fromHex('6869') } }), 'has fields that a transfer does not need'],
    [
      'scripts',
      craftTransfer({ raw: { scripts: fromHex('00') } }),
      'has fields that a transfer does not need',
    ],
    [
      'a block number beside its hash',
      craftTransfer({ raw: { ref_block_num: 5 } }),
      'has fields that a transfer does not need',
    ],
    [
      'a contract name',
      craftTransfer({ contract: { ContractName: fromHex('00') } }),
      'has fields that a transfer does not need',
    ],
    ['a negative fee limit', craftTransfer({ raw: { fee_limit: -1 } }), 'has numbers out of range'],
    ['a TRX amount', craftTransfer({ trigger: { call_value: 1 } }), 'must carry no value but the transfer'],
    [
      'another token',
      craftTransfer({ trigger: { call_token_value: 1, token_id: 1_000_001 } }),
      'must carry no value but the transfer',
    ],
    [
      'a short address',
      craftTransfer({ trigger: { owner_address: fromHex('4100') } }),
      'has an address of the wrong form',
    ],
    [
      'an address of another network',
      craftTransfer({ trigger: { contract_address: fromHex(`a0${'11'.repeat(20)}`) } }),
      'has an address of the wrong form',
    ],
    ...[
      ['another function', `095ea7b3${padded}${amount}`],
      ['a call that is too long', `${goodCall}00`],
      ['a call that is too short', goodCall.slice(0, -2)],
      ['non-zero padding of the address', `a9059cbb${'00'.repeat(11)}41${padded.slice(24)}${amount}`],
      ['no call data', ''],
    ].map(([what = '', data = '']): [string, string, string] => [
      what,
      craftTransfer({ data }),
      'must call transfer(address,uint256) and nothing else',
    ]),
  ])('refuses %s', (_what, hex, problem) => {
    expect(problemOf(hex)).toBe(problem)
  })

  it('refuses reordered fields', () => {
    const hex = craftTransfer()
    // The signature field (67 bytes) before raw_data.
    expect(problemOf(`${hex.slice(-134)}${hex.slice(0, -134)}`)).toBe('is not in canonical encoding')
  })

  it('never throws for arbitrary bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 0, maxLength: 1_100 }), (bytes) => {
        expect('reason' in decodeTransfer(Buffer.from(bytes).toString('hex'))).toBe(true)
      }),
      { numRuns: 500 },
    )
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect('reason' in decodeTransfer(text)).toBe(true)
      }),
    )
  })

  it('never recovers the owner after a single-bit change', () => {
    const good = fromHex(craftTransfer())
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.nat(7), (at, bit) => {
        const changed = Uint8Array.from(good, (byte, index) => (index === at ? byte ^ (1 << bit) : byte))
        const reading = decodeTransfer(Buffer.from(changed).toString('hex'))
        if ('reason' in reading) return
        const { transaction, signature, owner } = reading.transfer
        expect(recoverSigner(transaction, signature)).not.toBe(owner)
      }),
      { numRuns: 2_000 },
    )
  })
})
