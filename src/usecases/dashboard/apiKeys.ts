import { AppError } from '../../errors.js'
import type { AccountStore, ApiKey, Sealer } from '../../ports/accountStore.js'
import type { Clock } from '../../ports/clock.js'
import type { NamedKey } from '../../protocol/accounts.js'
import { areKeysShown, createApiKey, type KeyEnvironment, type Registration, viewKey } from './apiKey.js'
import { type MailChange, unknownActor } from './mails.js'
import type { DashboardUseCases } from './useCases.js'

interface ApiKeysDependencies {
  readonly accounts: AccountStore
  readonly sealer: Sealer
  readonly keyEnvironment: KeyEnvironment
  readonly mailChange: MailChange
  readonly clock: Clock
}

const maxKeys = 50
const maxNameLength = 100
const visible = /^[^\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+$/u

export const createApiKeyUseCases = ({
  accounts,
  sealer,
  keyEnvironment,
  mailChange,
  clock,
}: ApiKeysDependencies): Pick<DashboardUseCases, 'createApiKey' | 'listApiKeys' | 'revokeApiKey'> => ({
  createApiKey: async (holder, { name: givenName, scopes: givenScopes, expiresAt }, by = unknownActor) => {
    const name = readName(givenName)
    const scopes = [...new Set(givenScopes ?? holder.key.scopes)]
    const missing = scopes.filter((scope) => !holder.key.scopes.includes(scope))
    if (missing.length > 0) {
      throw new AppError('FORBIDDEN', `A key cannot grant scopes that it lacks: ${missing.join(', ')}`)
    }
    if (expiresAt !== null && expiresAt <= clock.now()) {
      throw new AppError('INVALID_REQUEST', 'expiresAt: must be in the future')
    }
    const apiKey = createApiKey(keyEnvironment)
    const key = {
      fingerprint: sealer.fingerprint(apiKey),
      sealed: sealer.seal(apiKey, holder.id),
      name,
      scopes,
      expiresAt: earliest(expiresAt, holder.key.expiresAt),
    }
    const added = await accounts.addKey(holder.id, key, { by, maxKeys })
    if (added === null) {
      throw new AppError('INVALID_REQUEST', `A project may have at most ${maxKeys} valid keys: revoke one`)
    }
    mailChange(holder, 'key.created', by)
    const view = viewNamedKey(
      { ...added, ...key, status: 'active', isPrimary: false, lastUsedAt: null },
      clock.now(),
    )
    return { ...view, apiKey }
  },

  listApiKeys: async (holder) => {
    const keys = await accounts.listKeys(holder.id)
    const now = clock.now()
    return { keys: keys.map((key) => ({ ...viewNamedKey(key, now), current: key.id === holder.key.id })) }
  },

  revokeApiKey: async (holder, keyId, by = unknownActor) => {
    const result = await accounts.revokeKey(holder.id, keyId, { by })
    if (result === null) throw new AppError('NOT_FOUND', 'Key not found')
    if (result === 'primary') {
      throw new AppError(
        'INVALID_REQUEST',
        'The primary key cannot be revoked: POST /dashboard/rotate replaces it',
      )
    }
    mailChange(holder, 'key.revoked', by)
    return { id: keyId, revoked: true }
  },
})

const readName = (text: string): string => {
  const name = text.trim().normalize('NFC')
  if (visible.test(name) && [...name].length <= maxNameLength) return name
  throw new AppError('INVALID_REQUEST', `name: must be 1 to ${maxNameLength} visible characters`)
}

/** A key cannot outlive the one that created it. */
const earliest = (one: Date | null, other: Date | null): Date | null => {
  if (one === null || other === null) return one ?? other
  return one < other ? one : other
}

const viewNamedKey = (key: ApiKey, now: Date): NamedKey => ({
  id: key.id,
  name: key.name,
  scopes: [...key.scopes],
  status: key.expiresAt !== null && key.expiresAt <= now ? 'expired' : key.status,
  isPrimary: key.isPrimary,
  createdAt: key.createdAt.toISOString(),
  expiresAt: key.expiresAt?.toISOString() ?? null,
  lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
})

interface ListKeysDependencies {
  readonly accounts: AccountStore
  readonly sealer: Sealer
  readonly mode: Registration['mode']
}

/**
 * Anyone can register a project under any address, so a key only reveals itself: other keys are masked. A further key
 * of the project does not reveal the primary one, which may have more scopes.
 */
export const createListKeys =
  ({ accounts, sealer, mode }: ListKeysDependencies): DashboardUseCases['listKeys'] =>
  async ({ id, email, key }, viewer) => {
    const isShown = areKeysShown(mode, viewer)
    const found = await accounts.listByEmail(email)
    return {
      email,
      keys: found.map((keyed) => {
        const current = keyed.account.id === id
        return { ...viewKey(keyed, (current && key.isPrimary) || isShown ? sealer : null), current }
      }),
    }
  }

interface RotateKeyDependencies {
  readonly accounts: AccountStore
  readonly sealer: Sealer
  readonly keyEnvironment: KeyEnvironment
  readonly mailChange: MailChange
}

export const createRotateKey =
  ({ accounts, sealer, keyEnvironment, mailChange }: RotateKeyDependencies): DashboardUseCases['rotateKey'] =>
  async (account, presented, { graceSeconds = 0, by = unknownActor } = {}) => {
    const { id, project } = account
    const apiKey = createApiKey(keyEnvironment)
    const key = { fingerprint: sealer.fingerprint(apiKey), sealed: sealer.seal(apiKey, id) }
    for (const from of sealer.fingerprints(presented)) {
      if (!(await accounts.rotate(id, from, key, { by, graceMs: graceSeconds * 1_000 }))) continue
      mailChange(account, 'key.rotated', by)
      const validity = graceSeconds === 0 ? 'now invalid' : `valid for another ${graceSeconds} seconds`
      return { apiKey, project, message: `The old key is ${validity}. Store this one: it replaces it.` }
    }
    throw new AppError('UNAUTHORIZED', 'The API key is not valid')
  }

export const createCountKeys =
  (accounts: AccountStore): DashboardUseCases['countKeys'] =>
  () =>
    accounts.count()
