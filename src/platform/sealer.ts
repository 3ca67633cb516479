import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import type { Sealer, SealPurpose } from '../ports/accountStore.js'
import type { Secret } from './secret.js'

export interface Sealers {
  sealerFor(purpose: SealPurpose): Sealer
  /** Key check value: instances that share a database compare it to detect different secrets. */
  readonly keyCheckValue: Uint8Array
  /** It checks the previous secret; null without one. */
  readonly previousKeyCheckValue: Uint8Array | null
}

interface SecretKeys {
  readonly id: Buffer
  readonly sealing: Buffer
  readonly fingerprint: Buffer
  readonly mark: Buffer
}

// Version 1 names neither its secret nor its owner. Version 2: version, key id, IV, tag, ciphertext.
const oldVersion = 1
const version = 2
const keyIdLength = 4
const ivLength = 12
const tagLength = 16
const algorithm = 'aes-256-gcm'
const options = { authTagLength: tagLength }

/** The current secret seals. The previous one opens and finds what was not yet sealed again. */
export const createSealers = (secret: Secret, previousSecret: Secret | null = null): Sealers => {
  const current = deriveKeys(secret)
  const previous = previousSecret === null ? null : deriveKeys(previousSecret)
  const known = previous === null ? [current] : [current, previous]

  const sealerFor = (purpose: SealPurpose): Sealer => {
    const associate = (owner: string) => Buffer.from(`quittance ${purpose} v${version} ${owner}`)
    const oldAssociated = Buffer.from(`quittance ${purpose} v${oldVersion}`)
    const hash = (keys: SecretKeys, text: string) =>
      createHmac('sha256', keys.fingerprint).update(`${purpose}\n${text}`).digest()

    const openOld = (sealed: Uint8Array): string => {
      const errors: unknown[] = []
      for (const { sealing } of known) {
        try {
          return decrypt(sealed.subarray(1), sealing, oldAssociated)
        } catch (error) {
          errors.push(error)
        }
      }
      throw errors[0]
    }

    return {
      seal: (text, owner) => {
        const iv = randomBytes(ivLength)
        const cipher = createCipheriv(algorithm, current.sealing, iv, options).setAAD(associate(owner))
        const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
        return Buffer.concat([Buffer.of(version), current.id, iv, cipher.getAuthTag(), encrypted])
      },
      open: (sealed, owner) => {
        if (sealed[0] === oldVersion) return openOld(sealed)
        const keys = known.find(({ id }) => id.equals(sealed.subarray(1, 1 + keyIdLength)))
        if (sealed[0] !== version || keys === undefined) {
          throw new Error('Not a sealed value of a known version and secret')
        }
        return decrypt(sealed.subarray(1 + keyIdLength), keys.sealing, associate(owner))
      },
      isOutdated: (sealed) =>
        sealed[0] !== version || !current.id.equals(sealed.subarray(1, 1 + keyIdLength)),
      fingerprint: (text) => hash(current, text),
      fingerprints: (text) => known.map((keys) => hash(keys, text)),
    }
  }
  return { sealerFor, keyCheckValue: current.mark, previousKeyCheckValue: previous?.mark ?? null }
}

/** One sub-key per use (HKDF-SHA256). */
const deriveKeys = (secret: Secret): SecretKeys => {
  const derive = (use: string) => Buffer.from(hkdfSync('sha256', secret.reveal(), '', `quittance ${use}`, 32))
  return {
    id: derive('key id').subarray(0, keyIdLength),
    sealing: derive('seal'),
    fingerprint: derive('fingerprint'),
    mark: derive('mark'),
  }
}

/** IV, tag, ciphertext. */
const decrypt = (bytes: Uint8Array, key: Buffer, associated: Buffer): string => {
  if (bytes.length < ivLength + tagLength) throw new Error('Not a sealed value: too short')
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivLength), options)
  decipher.setAAD(associated).setAuthTag(bytes.subarray(ivLength, ivLength + tagLength))
  const text = Buffer.concat([decipher.update(bytes.subarray(ivLength + tagLength)), decipher.final()])
  return text.toString('utf8')
}
