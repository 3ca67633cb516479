import { randomBytes } from 'node:crypto'
import type { ContractReader } from '../../src/chains/chain.js'
import { signInFamilies } from '../../src/chains/index.js'
import { createWalletSignatures } from '../../src/chains/walletSignatures.js'
import { silentLogger } from '../../src/platform/logger.js'
import { createSealers } from '../../src/platform/sealer.js'
import { Secret } from '../../src/platform/secret.js'
import type { Clock } from '../../src/ports/clock.js'
import type { SignInNonces } from '../../src/ports/walletSignatures.js'
import type { SignInFields } from '../../src/protocol/siwx.js'
import { createSiwx, type Siwx } from '../../src/usecases/siwx/index.js'
import { createManualClock } from './manualClock.js'

/** When the messages of these tests are issued and judged. */
export const signInTime = new Date('2026-01-01T00:00:00.000Z')

export const signInUri = 'https://api.example.com/premium'

export const newNonce = (): string => randomBytes(16).toString('hex')

/** For an EVM account on Base; valid for the next 5 minutes. */
export const signInFields = (given: Partial<SignInFields> & Pick<SignInFields, 'address'>): SignInFields => ({
  domain: 'api.example.com',
  statement: null,
  uri: signInUri,
  version: '1',
  chainId: 'eip155:8453',
  nonce: newNonce(),
  issuedAt: signInTime.toISOString(),
  expirationTime: '2026-01-01T00:05:00.000Z',
  notBefore: null,
  requestId: null,
  resources: [signInUri],
  ...given,
})

/** As clients send it: without the fields that are absent. */
export const toProof = (fields: SignInFields, signature: string): Record<string, unknown> => ({
  ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)),
  signature,
})

export const encodeHeader = (proof: unknown): string => Buffer.from(JSON.stringify(proof)).toString('base64')

const createMemoryNonces = (): SignInNonces => {
  const used = new Set<string>()
  return {
    use: async ({ domain, nonce }) => {
      const key = `${domain.toLowerCase()} ${nonce}`
      const isFirst = !used.has(key)
      used.add(key)
      return isFirst
    },
    purge: async () => undefined,
  }
}

interface SiwxOptions {
  readonly contracts?: readonly ContractReader[]
  readonly usedNonces?: SignInNonces
  readonly clock?: Clock
  readonly secret?: string
}

/** With the wallets of every family, and a store of one process. */
export const openSiwx = (options: SiwxOptions = {}): Siwx =>
  createSiwx({
    wallets: createWalletSignatures({
      families: signInFamilies,
      contractReaders: options.contracts ?? [],
      logger: silentLogger,
    }),
    usedNonces: options.usedNonces ?? createMemoryNonces(),
    sealer: createSealers(
      new Secret(options.secret ?? 'a secret that the instances of a test share'),
    ).sealerFor('sign-in-nonce'),
    clock: options.clock ?? createManualClock(signInTime),
  })
