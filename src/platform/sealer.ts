import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import type { Sealer, SealPurpose } from '../ports/sealer.js'
import type { Secret } from './secret.js'

export interface Sealers {
  sealerFor(purpose: SealPurpose): Sealer
  /** Key check value: instances that share a database compare it to detect different secrets. */
  readonly keyCheckValue: Uint8Array
}

const version = 1
const ivLength = 12
const tagLength = 16
const headerLength = 1 + ivLength + tagLength
const algorithm = 'aes-256-gcm'
const options = { authTagLength: tagLength }

/** Derives one sub-key per use (HKDF-SHA256). */
export const createSealers = (secret: Secret): Sealers => {
  const derive = (use: string) => Buffer.from(hkdfSync('sha256', secret.reveal(), '', `quittance ${use}`, 32))
  const sealingKey = derive('seal')
  const fingerprintKey = derive('fingerprint')

  const sealerFor = (purpose: SealPurpose): Sealer => {
    const associated = Buffer.from(`quittance ${purpose} v${version}`)
    return {
      seal: (text) => {
        const iv = randomBytes(ivLength)
        const cipher = createCipheriv(algorithm, sealingKey, iv, options).setAAD(associated)
        const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
        return Buffer.concat([Buffer.of(version), iv, cipher.getAuthTag(), encrypted])
      },
      open: (sealed) => {
        if (sealed.length < headerLength || sealed[0] !== version)
          throw new Error('Not a sealed value of this version')
        const decipher = createDecipheriv(algorithm, sealingKey, sealed.subarray(1, 1 + ivLength), options)
        decipher.setAAD(associated).setAuthTag(sealed.subarray(1 + ivLength, headerLength))
        const text = Buffer.concat([decipher.update(sealed.subarray(headerLength)), decipher.final()])
        return text.toString('utf8')
      },
      fingerprint: (text) => createHmac('sha256', fingerprintKey).update(`${purpose}\n${text}`).digest(),
    }
  }
  return { sealerFor, keyCheckValue: derive('mark') }
}
