import { describe, expect, it } from 'vitest'
import { readChannelProof } from '../../../../src/chains/evm/channels/payload.js'
import { randomAddress, randomHex } from '../../../support/evm/authorization.js'

/* Payloads come from strangers: every field can be anything. */

const channel = {
  payer: randomAddress(),
  payerAuthorizer: randomAddress(),
  receiver: randomAddress(),
  receiverAuthorizer: randomAddress(),
  token: randomAddress(),
  withdrawDelay: 900,
  salt: randomHex(32),
}
const signature = randomHex(65)
const row = { voucher: { channel, maxClaimableAmount: '9' }, signature, totalClaimed: '5' }
const signed = {
  channelConfig: channel,
  voucher: { channelId: randomHex(32), maxClaimableAmount: '9', signature },
}
const erc3009Authorization = { validAfter: '0', validBefore: '99', salt: randomHex(32), signature }
const permit2Authorization = {
  from: channel.payer,
  permitted: { token: channel.token, amount: '9' },
  spender: randomAddress(),
  nonce: '1',
  deadline: '99',
  witness: { channelId: randomHex(32) },
  signature,
}

const payloads = {
  deposit: { ...signed, deposit: { amount: '9', authorization: { erc3009Authorization } } },
  'deposit by Permit2': { ...signed, deposit: { amount: '9', authorization: { permit2Authorization } } },
  voucher: signed,
  refund: {
    ...signed,
    amount: '4',
    refundNonce: '0',
    claims: [row],
    refundAuthorizerSignature: signature,
    claimAuthorizerSignature: signature,
  },
  claim: { claims: [row, row], claimAuthorizerSignature: signature },
  settle: { receiver: channel.receiver, token: channel.token },
}

type Path = readonly string[]

const isBranch = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Every field, and every object and list above the fields. */
const listPaths = (value: unknown, at: Path = []): readonly Path[] =>
  isBranch(value)
    ? [
        ...(at.length === 0 ? [] : [at]),
        ...Object.entries(value).flatMap(([name, inner]) => listPaths(inner, [...at, name])),
      ]
    : [at]

const changed = (payload: object, path: Path, value: unknown) => {
  const copy: Record<string, unknown> = JSON.parse(JSON.stringify(payload))
  const parent = path.slice(0, -1).reduce<object>((fields, name) => Object(Reflect.get(fields, name)), copy)
  Reflect.set(parent, path.at(-1) ?? '', value)
  return copy
}

const junk: readonly unknown[] = [
  true,
  1.5,
  -1,
  2 ** 60,
  '-1',
  '1e3',
  '0x',
  ' 5',
  '٣',
  '340282366920938463463374607431768211456'.repeat(3),
  `0x${'f'.repeat(100_000)}`,
  '9'.repeat(100_000),
  [],
  {},
  [[]],
]

/** What a server adds to a refund, or leaves to the requirements, or signs only with a key of its own. */
const isOptional = (form: string, path: Path): boolean => {
  const name = path.at(-1) ?? ''
  if (/^(erc3009|permit2)Authorization$|AuthorizerSignature$/.test(name)) return true
  return form === 'refund' && path.length === 1 && (name === 'refundNonce' || name === 'claims')
}

/** A refund can claim nothing; which authorization there must be is a rule of its own. */
const isAllowed = (form: string, path: Path, value: unknown): boolean => {
  const isEmpty = isBranch(value) && Object.keys(value).length === 0
  const isList = Array.isArray(value)
  if (!isEmpty) return false
  return isList ? form === 'refund' && path.join() === 'claims' : path.at(-1) === 'authorization'
}

const typed = (form: string) => ({ type: form.split(' ')[0], ...Object(Reflect.get(payloads, form)) })

describe('a payload of a channel', () => {
  it.each(Object.keys(payloads))('of the form %s is read', (form) => {
    expect(readChannelProof(typed(form))).toHaveProperty('proof')
  })

  const cases = Object.entries(payloads).flatMap(([form, payload]) =>
    listPaths(payload).map((path) => ({ form, path, name: path.join('.') })),
  )

  it.each(cases)('of the form $form is refused with the name of $name if that is none', ({ form, path }) => {
    const payload = typed(form)
    for (const value of junk) {
      const reading = readChannelProof(changed(payload, path, value))
      if (isAllowed(form, path, value)) {
        expect(reading).toHaveProperty('proof')
        continue
      }
      const problem = 'problem' in reading ? reading.problem : 'none'
      expect(problem).toContain(`payload.${path.join('.')}`)
      expect(problem.length).toBeLessThan(200)
      expect(reading).toMatchObject({ type: payload.type })
    }
    const absent = readChannelProof(changed(payload, path, undefined))
    expect(absent).toHaveProperty(isOptional(form, path) ? 'proof' : 'problem')
  })

  it('reads hashes and signatures in any letter case as the same', () => {
    const upper = (hex: string) => `0x${hex.slice(2).toUpperCase()}`
    const loud = {
      type: 'voucher',
      channelConfig: { ...channel, salt: upper(channel.salt) },
      voucher: {
        ...signed.voucher,
        channelId: upper(signed.voucher.channelId),
        signature: upper(signature),
      },
    }
    expect(readChannelProof(loud)).toEqual(readChannelProof({ type: 'voucher', ...signed }))
  })
})
