import fc from 'fast-check'
import { bytesToHex, hexToBytes, parseSignature } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import {
  isRecoveryNative,
  loadNativeRecover,
  type RecoverSigner,
  recoverInJavaScript,
} from '../../../../src/chains/evm/signatures/signature.js'

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => bytesToHex(bytes))
const privateKey = fc
  .bigInt({ min: 1n, max: 2n ** 255n })
  .map((key): `0x${string}` => `0x${key.toString(16).padStart(64, '0')}`)

const native = loadNativeRecover()

const implementations: readonly [string, RecoverSigner][] = [
  ['JavaScript', recoverInJavaScript],
  ...(native === null ? [] : [['libsecp256k1', native] satisfies [string, RecoverSigner]]),
]

describe.each(implementations)('recovering a signer in %s', (_, recover) => {
  it('finds the signer', async () => {
    await fc.assert(
      fc.asyncProperty(privateKey, bytes32, async (key, digest) => {
        const account = privateKeyToAccount(key)
        const { r, s, yParity } = parseSignature(await account.sign({ hash: digest }))
        expect(await recover(digest, { r, s, v: yParity === 0 ? 27 : 28 })).toBe(account.address)
      }),
      { numRuns: 50 },
    )
  })

  it('returns null for an invalid signature', async () => {
    const digest = bytesToHex(hexToBytes(`0x${'11'.repeat(32)}`))
    const zero = bytesToHex(new Uint8Array(32))
    const tooLarge = bytesToHex(new Uint8Array(32).fill(255))
    for (const [r, s] of [
      [zero, digest],
      [digest, zero],
      [tooLarge, digest],
      [digest, tooLarge],
    ] as const) {
      expect(await recover(digest, { r, s, v: 27 })).toBeNull()
    }
  })
})

describe('the native implementation', () => {
  // Platforms for which the package ships an addon.
  const shipped = ['linux-x64', 'darwin-arm64', 'win32-x64']

  it.runIf(shipped.includes(`${process.platform}-${process.arch}`))(
    'runs where the package ships an addon',
    () => {
      expect(isRecoveryNative).toBe(true)
    },
  )

  it.runIf(native !== null)('agrees with the JavaScript implementation on every input', async () => {
    await fc.assert(
      fc.asyncProperty(
        bytes32,
        bytes32,
        bytes32,
        fc.constantFrom(27 as const, 28 as const),
        async (digest, r, s, v) => {
          expect(await native?.(digest, { r, s, v })).toBe(await recoverInJavaScript(digest, { r, s, v }))
        },
      ),
      { numRuns: 100 },
    )
  })
})
