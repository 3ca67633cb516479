import { createHash, sign as signBytes } from 'node:crypto'
import { Keypair as SolanaKeypair } from '@solana/web3.js'
import { Account, Keypair, Networks, Operation, TransactionBuilder } from '@stellar/stellar-base'
import { createSIWxPayload, encodeBase58, encodeSIWxHeader } from '@x402/extensions/sign-in-with-x'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { readEd25519Seed } from '../../../src/chains/common/ed25519.js'
import { writeT402Message, writeX402Message } from '../../../src/extensions/siwx/messages.js'
import type { SignInFields, SignInReason } from '../../../src/protocol/siwx.js'
import type { VerifyRequest } from '../../../src/usecases/useCases.js'
import { createManualClock } from '../../support/manualClock.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { encodeHeader, openSiwx, signInFields, signInTime, signInUri, toProof } from '../../support/siwx.js'

const account = privateKeyToAccount(`0x${'1'.repeat(64)}`)
const solana = SolanaKeypair.fromSeed(Buffer.alloc(32, 2))
const stellar = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 3))

const solanaChain = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const evmFields = (given: Partial<SignInFields> = {}) => signInFields({ address: account.address, ...given })
const solanaFields = (given: Partial<SignInFields> = {}) =>
  signInFields({ address: solana.publicKey.toBase58(), chainId: solanaChain, ...given })
const stellarFields = (given: Partial<SignInFields> = {}) =>
  signInFields({ address: stellar.publicKey(), chainId: 'stellar:testnet', ...given })

const x402Text = (fields: SignInFields): string => writeX402Message(fields) ?? ''
const signByKey = (fields: SignInFields) => account.signMessage({ message: x402Text(fields) })
const solanaKey = readEd25519Seed(solana.secretKey.subarray(0, 32))
const signOnSolana = (text: string) => signBytes(null, Buffer.from(text), solanaKey)

/** As `createSIWxTypedData` of t402 has it. */
const signTyped = (fields: SignInFields) =>
  account.signTypedData({
    domain: { name: fields.domain, version: fields.version, chainId: 8453 },
    types: {
      SIWx: [
        ...['domain:string', 'address:address', 'statement:string', 'uri:string', 'version:string'],
        ...[
          'chainId:string',
          'nonce:string',
          'issuedAt:string',
          'expirationTime:string',
          'resources:string[]',
        ],
      ].map((each) => {
        const [name = '', type = ''] = each.split(':')
        return { name, type }
      }),
    },
    primaryType: 'SIWx',
    message: {
      ...fields,
      statement: fields.statement ?? '',
      expirationTime: fields.expirationTime ?? '',
      resources: fields.resources ?? [],
    },
  })

interface ChallengeOptions {
  readonly name?: string
  readonly nonce?: string
  readonly sequence?: string
  readonly message?: string
  readonly passphrase?: string
  readonly source?: string
  readonly signer?: Keypair
  readonly maxTime?: number
}

/** A SEP-10 challenge that names the message; the resource server's account is another. */
const writeChallenge = (fields: SignInFields, options: ChallengeOptions = {}): string => {
  const server = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 4))
  const seconds = signInTime.getTime() / 1_000
  // The builder counts one up.
  const sequence = options.sequence ?? '-1'
  const transaction = new TransactionBuilder(new Account(server.publicKey(), sequence), {
    fee: '100',
    networkPassphrase: options.passphrase ?? Networks.TESTNET,
    timebounds: { minTime: seconds, maxTime: options.maxTime ?? seconds + 300 },
  })
    .addOperation(
      Operation.manageData({
        source: options.source ?? fields.address,
        name: options.name ?? `${fields.domain} auth`,
        value: options.nonce ?? fields.nonce,
      }),
    )
    .addOperation(
      Operation.manageData({
        source: server.publicKey(),
        name: 'siwx',
        value: createHash('sha256')
          .update(options.message ?? writeT402Message(fields))
          .digest(),
      }),
    )
    .build()
  transaction.sign(server, options.signer ?? stellar)
  return transaction.toEnvelope().toXDR('base64')
}

const verify = (proof: unknown, request: Partial<VerifyRequest> = {}, siwx = openSiwx()) =>
  siwx.useCases.verifySignIn({ proof, uri: signInUri, ...request })

const reasonOf = async (work: Promise<unknown>) => {
  const { code, signInReason } = await rejectionOf(work)
  expect(code).toBe('SIGN_IN_FAILED')
  return signInReason
}

describe('a signature scheme', () => {
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
  const cases: readonly [string, string, SignInFields, (fields: SignInFields) => Promise<string> | string][] =
    [
      ['eip191 of x402', 'eip191', evmFields(), signByKey],
      [
        'eip191 of t402',
        'eip191',
        evmFields(),
        (each) => account.signMessage({ message: writeT402Message(each) }),
      ],
      [
        'eip191 with every field',
        'eip191',
        evmFields({ statement: 'Read', notBefore: signInTime.toISOString(), requestId: 'r-1' }),
        signByKey,
      ],
      [
        'eip191 with v as 0 or 1',
        'eip191',
        evmFields(),
        async (each) => (await signByKey(each)).replace(/1b$/, '00').replace(/1c$/, '01'),
      ],
      ['eip712 of t402', 'eip712', evmFields({ statement: 'Read' }), signTyped],
      [
        'siws of x402 in base58',
        'siws',
        solanaFields(),
        (each) => encodeBase58(signOnSolana(x402Text(each))),
      ],
      ['siws of t402 in hex', 'siws', solanaFields(), (each) => hex(signOnSolana(writeT402Message(each)))],
      ['siws in base64', 'siws', solanaFields(), (each) => base64(signOnSolana(x402Text(each)))],
      [
        'sep10 by SEP-53',
        'sep10',
        stellarFields(),
        (each) => {
          const text = `Stellar Signed Message:\n${writeT402Message(each)}`
          return base64(stellar.sign(createHash('sha256').update(text).digest()))
        },
      ],
      [
        'sep10 by the bytes of the message',
        'sep10',
        stellarFields(),
        (each) => hex(stellar.sign(Buffer.from(writeT402Message(each)))),
      ],
      ['sep10 by a challenge transaction', 'sep10', stellarFields(), (each) => writeChallenge(each)],
    ]

  it.each(cases)('%s signs in', async (_name, scheme, fields, sign) => {
    expect(await verify(toProof(fields, await sign(fields)))).toMatchObject({
      isValid: true,
      address: fields.address,
      account: `${fields.chainId}:${fields.address}`,
      nonce: fields.nonce,
      signatureScheme: scheme,
    })
  })

  it.each(cases)(
    '%s is refused when any field is changed after signing',
    async (_name, _scheme, fields, sign) => {
      const signature = await sign(fields)
      const changes: Partial<SignInFields> = {
        statement: 'Another statement',
        chainId: fields.chainId.startsWith('eip155') ? 'eip155:1' : `${fields.chainId.split(':')[0]}:other`,
        nonce: 'ffffffffffffffff',
        issuedAt: '2025-12-31T23:59:59.000Z',
        expirationTime: '2026-01-01T00:04:00.000Z',
        notBefore: '2025-12-31T23:00:00.000Z',
        requestId: 'another',
        resources: [`${signInUri}/2`],
      }
      for (const [field, value] of Object.entries(changes)) {
        const changed = { ...fields, [field]: value }
        expect([field, await reasonOf(verify(toProof(changed, signature)))]).toEqual([
          field,
          'siwx_signature_invalid',
        ])
      }
      const elsewhere = { ...fields, domain: 'api.example.org', uri: 'https://api.example.org/premium' }
      expect(await reasonOf(verify(toProof(elsewhere, signature), { uri: elsewhere.uri }))).toBe(
        'siwx_signature_invalid',
      )
    },
  )
})

describe('a SEP-10 challenge', () => {
  const fields = stellarFields()
  const another = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 5))

  it.each<[string, ChallengeOptions]>([
    ['for another domain', { name: 'api.example.org auth' }],
    ['with another nonce', { nonce: 'ffffffffffffffff' }],
    ['that could be submitted', { sequence: '7' }],
    [
      'of another message',
      { message: writeT402Message({ ...fields, uri: 'https://api.example.com/other' }) },
    ],
    ['of the other network', { passphrase: Networks.PUBLIC }],
    ['of another account', { source: another.publicKey() }],
    ['signed by another key', { signer: another }],
    ['that has expired', { maxTime: signInTime.getTime() / 1_000 }],
    ['without an end', { maxTime: 0 }],
  ])('%s is refused', async (_name, options) => {
    expect(await reasonOf(verify(toProof(fields, writeChallenge(fields, options))))).toBe(
      'siwx_signature_invalid',
    )
  })
})

describe('a sign-in is refused', () => {
  const mixedCase = account.address.replace(/[a-f]/, (letter) => letter.toUpperCase())
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  /** The other signature of the same key and message. */
  const mirror = (signature: string): string => {
    const s = (order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0')
    return `${signature.slice(0, 66)}${s}${signature.endsWith('1b') ? '1c' : '1b'}`
  }

  it.each<[SignInReason, string, Partial<SignInFields>, Partial<VerifyRequest>]>([
    ['siwx_domain_mismatch', 'for another domain', { domain: 'evil.example' }, {}],
    ['siwx_domain_mismatch', 'for another port', { domain: 'api.example.com:8443' }, {}],
    ['siwx_domain_mismatch', 'where the server names another domain', {}, { domain: 'shop.example.com' }],
    ['siwx_uri_mismatch', 'for another path', { uri: 'https://api.example.com/other' }, {}],
    ['siwx_uri_mismatch', 'for http instead of https', { uri: 'http://api.example.com/premium' }, {}],
    ['siwx_uri_mismatch', 'for another host', { uri: 'https://evil.example/premium' }, {}],
    ['siwx_uri_mismatch', 'for no URL', { uri: 'premium' }, {}],
    ['siwx_version_unsupported', 'with another version', { version: '2' }, {}],
    [
      'siwx_chain_mismatch',
      'on another chain',
      { chainId: 'eip155:1' },
      { chains: ['eip155:8453', solanaChain] },
    ],
    ['siwx_chain_mismatch', 'on another chain than the only one', {}, { chainId: 'eip155:1' }],
    ['siwx_chain_unsupported', 'on a chain without wallets here', { chainId: 'cosmos:hub' }, {}],
    [
      'siwx_resources_mismatch',
      'without a required resource',
      {},
      { resources: ['https://api.example.com/vault'] },
    ],
    ['siwx_issued_in_future', 'issued 61 s in the future', { issuedAt: '2026-01-01T00:01:01.000Z' }, {}],
    ['siwx_too_old', 'issued 301 s ago', { issuedAt: '2025-12-31T23:54:59.000Z' }, {}],
    [
      'siwx_too_old',
      'older than the server allows',
      { issuedAt: '2025-12-31T23:59:49.000Z' },
      { maxAgeSeconds: 10 },
    ],
    ['siwx_expired', 'that expires this millisecond', { expirationTime: signInTime.toISOString() }, {}],
    ['siwx_not_yet_valid', 'not valid for 61 s', { notBefore: '2026-01-01T00:01:01.000Z' }, {}],
    ['siwx_nonce_mismatch', 'with another nonce', {}, { nonce: 'ffffffffffffffff' }],
    ['siwx_nonce_unknown', 'with a nonce that was not issued here', {}, { requireIssuedNonce: true }],
    ['siwx_address_invalid', 'whose checksum is wrong', { address: mixedCase }, {}],
    ['siwx_address_invalid', 'by an address of another chain', { chainId: solanaChain }, {}],
    ['siwx_field_invalid', 'with 7 characters of nonce', { nonce: '1234567' }, {}],
    ['siwx_field_invalid', 'with a nonce of other characters', { nonce: 'abcd efgh' }, {}],
    ['siwx_field_invalid', 'with a time of another form', { issuedAt: 'yesterday' }, {}],
    ['siwx_field_invalid', 'with a chain number of another spelling', { chainId: 'eip155:08453' }, {}],
    ['siwx_field_invalid', 'with a path in its domain', { domain: 'api.example.com/x' }, {}],
  ])('%s: %s', async (reason, _name, given, request) => {
    const fields = evmFields(given)
    const signature = await signByKey(fields)
    expect(await reasonOf(verify(toProof(fields, signature), request))).toBe(reason)
  })

  it.each(['\n', '\r', '\u2028', '\u2029', '\u0085', '\u0000', '\ud800'])(
    'with %j in any of its fields',
    async (character) => {
      const texts = [
        'domain',
        'address',
        'statement',
        'uri',
        'version',
        'chainId',
        'nonce',
        'issuedAt',
        'expirationTime',
        'notBefore',
        'requestId',
      ]
      for (const field of texts) {
        const fields = evmFields({ [field]: `a${character}URI: https://evil.example` })
        expect([field, await reasonOf(verify(toProof(fields, '0x00')))]).toEqual([
          field,
          'siwx_field_invalid',
        ])
      }
      const fields = evmFields({ resources: [`https://a.example${character}`] })
      expect(await reasonOf(verify(toProof(fields, '0x00')))).toBe('siwx_field_invalid')
    },
  )

  it('with a signature with a high s', async () => {
    const fields = evmFields()
    expect(await reasonOf(verify(toProof(fields, mirror(await signByKey(fields)))))).toBe(
      'siwx_signature_invalid',
    )
  })

  it.each(['0x', '0x00', 'no hex', `0x${'00'.repeat(65)}`, `0x${'ff'.repeat(65)}`])(
    'with the signature %s',
    async (signature) => {
      const reason = await reasonOf(verify(toProof(evmFields(), signature)))
      expect(['siwx_signature_invalid', 'siwx_wallet_unverifiable']).toContain(reason)
    },
  )

  it('with a scheme of another chain', async () => {
    const fields = evmFields()
    const proof = { ...toProof(fields, await signByKey(fields)), signatureScheme: 'siws' }
    expect(await reasonOf(verify(proof))).toBe('siwx_scheme_mismatch')
  })

  it('by a contract wallet of a network that is not configured', async () => {
    const fields = evmFields()
    const proof = toProof(fields, `0x${'ab'.repeat(100)}`)
    expect(await reasonOf(verify(proof))).toBe('siwx_wallet_unverifiable')
    expect(
      await reasonOf(verify({ ...toProof(fields, `0x${'ab'.repeat(65)}`), signatureScheme: 'eip1271' })),
    ).toBe('siwx_wallet_unverifiable')
  })

  it('with typed data and a field that typed data does not hold', async () => {
    const fields = evmFields({ requestId: 'unsigned' })
    expect(await reasonOf(verify(toProof(fields, await signTyped(fields))))).toBe('siwx_signature_invalid')
  })

  it.each<[string, string, SignInReason]>([
    ['that is no base64', '{"domain":"api.example.com"}', 'siwx_malformed'],
    ['that is empty', '', 'siwx_malformed'],
    ['that is base64 of no JSON', Buffer.from('domain').toString('base64'), 'siwx_malformed'],
    ['that is base64 of an array', encodeHeader([]), 'siwx_malformed'],
    ['without fields', encodeHeader({}), 'siwx_malformed'],
    ['nested deeply', Buffer.from('['.repeat(5_000)).toString('base64'), 'siwx_malformed'],
    ['of 1 MB', 'A'.repeat(1_048_576), 'siwx_too_large'],
  ])('by a header %s', async (_name, header, reason) => {
    expect(await reasonOf(openSiwx().useCases.verifySignIn({ header, uri: signInUri }))).toBe(reason)
  })

  it('without any of its required fields', async () => {
    const proof = toProof(evmFields(), '0x00')
    for (const field of [
      'domain',
      'address',
      'uri',
      'version',
      'chainId',
      'nonce',
      'issuedAt',
      'signature',
    ]) {
      const { [field]: _omitted, ...rest } = proof
      expect(await reasonOf(verify(rest))).toBe('siwx_malformed')
    }
  })
})

describe('the nonce of a sign-in', () => {
  it('is accepted once, in either dialect and by either wallet', async () => {
    const siwx = openSiwx()
    const fields = evmFields()
    const proof = toProof(fields, await signByKey(fields))
    await verify(proof, {}, siwx)
    expect(await reasonOf(verify(proof, {}, siwx))).toBe('siwx_nonce_used')
    const again = toProof(fields, await account.signMessage({ message: writeT402Message(fields) }))
    expect(await reasonOf(verify(again, {}, siwx))).toBe('siwx_nonce_used')
    const other = solanaFields({ nonce: fields.nonce })
    const byOther = toProof(other, encodeBase58(signOnSolana(x402Text(other))))
    expect(await reasonOf(verify(byOther, {}, siwx))).toBe('siwx_nonce_used')
  })

  it('is not used up by a proof that is refused', async () => {
    const siwx = openSiwx()
    const fields = evmFields()
    const signature = await signByKey(fields)
    await reasonOf(verify(toProof({ ...fields, statement: 'Another' }, signature), {}, siwx))
    await reasonOf(verify(toProof(fields, signature), { chains: ['eip155:1'] }, siwx))
    expect(await verify(toProof(fields, signature), {}, siwx)).toMatchObject({ isValid: true })
  })

  it('of ours is known to every instance with the secret, for its domain, until it expires', async () => {
    const clock = createManualClock(signInTime)
    const { issueNonce } = openSiwx({ clock }).useCases
    const sign = async (nonce: string, given: Partial<SignInFields> = {}) => {
      const fields = evmFields({ nonce, expirationTime: null, ...given })
      return toProof(fields, await signByKey(fields))
    }
    const strict = { requireIssuedNonce: true, maxAgeSeconds: 3_600 }
    const { nonce } = issueNonce({ domain: 'api.example.com' })
    expect(await verify(await sign(nonce), strict, openSiwx({ clock }))).toMatchObject({ nonce })
    expect(await verify(await sign(issueNonce({}).nonce), strict)).toMatchObject({ isValid: true })

    const elsewhere = { domain: 'b.example', uri: 'https://b.example/' }
    expect(await reasonOf(verify(await sign(nonce, elsewhere), { ...strict, uri: elsewhere.uri }))).toBe(
      'siwx_nonce_unknown',
    )
    expect(
      await reasonOf(
        verify(await sign(nonce), strict, openSiwx({ clock, secret: 'another secret of 32 characters' })),
      ),
    ).toBe('siwx_nonce_unknown')
    await clock.advance(300_000)
    expect(await reasonOf(verify(await sign(nonce), strict, openSiwx({ clock })))).toBe('siwx_nonce_unknown')
  })
})

describe('a challenge', () => {
  it.each([
    ['five minutes after it was issued', {}, 300],
    ['as many seconds as were asked for', { expiresInSeconds: 60 }, 60],
  ])('expires %s, to the second, and is valid at once', async (_name, request, seconds) => {
    const clock = createManualClock(new Date('2026-01-01T00:00:00.999Z'))
    const siwx = openSiwx({ clock })
    const issued = siwx.useCases.issueNonce({ domain: 'api.example.com', ...request })
    expect(issued.issuedAt).toBe('2026-01-01T00:00:00.000Z')
    expect(Date.parse(issued.expirationTime) - Date.parse(issued.issuedAt)).toBe(seconds * 1_000)
    const fields = evmFields(issued)
    expect(await verify(toProof(fields, await signByKey(fields)), {}, siwx)).toMatchObject({ isValid: true })
  })
})

describe('the clock', () => {
  it('of a signer may be 60 s ahead, or what the operator allows', async () => {
    const fields = evmFields({ issuedAt: '2026-01-01T00:01:00.000Z', notBefore: '2026-01-01T00:01:00.000Z' })
    expect(await verify(toProof(fields, await signByKey(fields)))).toMatchObject({ isValid: true })
  })

  it('of a message may be written with an offset and microseconds, as Python does', async () => {
    const fields = evmFields({ issuedAt: '2026-01-01T01:00:00.123456+01:00' })
    expect(await verify(toProof(fields, await signByKey(fields)))).toMatchObject({ isValid: true })
  })
})

describe('an unmodified client of @x402/extensions', () => {
  const declare = (chains: readonly string[]) => {
    const siwx = openSiwx()
    const { extensions } = siwx.useCases.issueNonce({ uri: signInUri, chains, statement: 'Sign in to read' })
    const declaration = extensions?.['sign-in-with-x']
    if (declaration === undefined) throw new Error('No declaration')
    return { siwx, declaration }
  }
  type Extension = Parameters<typeof createSIWxPayload>[0]
  const complete = (
    declaration: object,
    chain: { chainId: string; type: 'eip191' | 'ed25519' },
  ): Extension => ({
    ...('info' in declaration ? (declaration.info as Extension) : ({} as Extension)),
    ...chain,
  })

  it('signs our declaration with an EVM account', async () => {
    const { siwx, declaration } = declare(['eip155:8453', solanaChain])
    const payload = await createSIWxPayload(
      complete(declaration, { chainId: 'eip155:8453', type: 'eip191' }),
      account,
      signInUri,
    )
    const header = encodeSIWxHeader(payload)
    expect(
      await siwx.useCases.verifySignIn({ header, uri: signInUri, requireIssuedNonce: true }),
    ).toMatchObject({ address: account.address, statement: 'Sign in to read', signatureScheme: 'eip191' })
  })

  it('signs our declaration with a Solana key', async () => {
    const { siwx, declaration } = declare([solanaChain])
    const signer = {
      publicKey: solana.publicKey.toBase58(),
      signMessage: async (bytes: Uint8Array) => signBytes(null, bytes, solanaKey),
    }
    const extension = complete(declaration, { chainId: solanaChain, type: 'ed25519' })
    const header = encodeSIWxHeader(await createSIWxPayload(extension, signer, signInUri))
    expect(await siwx.useCases.verifySignIn({ header, uri: signInUri })).toMatchObject({
      signatureScheme: 'siws',
    })
  })
})

describe('a client of t402', () => {
  it('signs our declaration and sends every field of it', async () => {
    const siwx = openSiwx()
    const { extensions } = siwx.useCases.issueNonce({ uri: signInUri, chains: ['eip155:8453'] })
    const info = extensions?.siwx.info as unknown as Omit<SignInFields, 'address'>
    const proof = { ...info, address: account.address }
    const message = writeT402Message({ ...evmFields(), ...proof })
    const header = encodeHeader({ ...proof, signature: await account.signMessage({ message }) })
    expect(await siwx.useCases.verifySignIn({ header, uri: signInUri })).toMatchObject({
      signatureScheme: 'eip191',
    })
  })
})

describe('the text of an owner', () => {
  it('is verified by the wallet of its network', async () => {
    const { createWalletSignatures } = await import('../../../src/chains/walletSignatures.js')
    const { signInFamilies } = await import('../../../src/chains/index.js')
    const { silentLogger } = await import('../../../src/platform/logger.js')
    const wallets = createWalletSignatures({
      families: signInFamilies,
      contractReaders: [],
      logger: silentLogger,
    })
    const message = 'Remove https://api.example.com/premium'
    const texts = [
      { network: 'eip155:8453', address: account.address, signature: await account.signMessage({ message }) },
      {
        network: solanaChain,
        address: solana.publicKey.toBase58(),
        signature: encodeBase58(signOnSolana(message)),
      },
    ]
    for (const text of texts) {
      expect(await wallets.verifyMessage({ ...text, message })).toBe(true)
      expect(await wallets.verifyMessage({ ...text, message: `${message}/2` })).toBe(false)
      expect(await wallets.verifyMessage({ ...text, message, network: 'cosmos:hub' })).toBe(false)
    }
  })
})
