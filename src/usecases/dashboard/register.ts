import { randomUUID } from 'node:crypto'
import { AppError } from '../../errors.js'
import type { AccountStore, Registrant, Sealer } from '../../ports/accountStore.js'
import type { Clock } from '../../ports/clock.js'
import type { Quotas } from '../../ports/quotas.js'
import type { Tiers } from '../../protocol/tiers.js'
import {
  areKeysShown,
  createApiKey,
  isMailboxProven,
  type KeyEnvironment,
  maskedApiKey,
  openKey,
  type Registration,
  viewKey,
} from './apiKey.js'
import { canonicalMailbox, type MailKeys, readEmail } from './mails.js'
import { unusedMonth, viewQuota } from './readAccount.js'
import type { DashboardUseCases } from './useCases.js'

interface RegisterDependencies {
  readonly accounts: AccountStore
  readonly quotas: Quotas
  readonly sealer: Sealer
  readonly clock: Clock
  readonly tiers: Tiers
  readonly mode: Registration['mode']
  readonly mailKeys: MailKeys | null
  readonly mailboxCaps: MailboxCapSettings
  readonly keyEnvironment: KeyEnvironment
}

/** Idempotent per e-mail and project: returns the existing account if there is one. */
export const createRegister = (dependencies: RegisterDependencies): DashboardUseCases['register'] => {
  const { accounts, quotas, sealer, clock, mode, mailKeys, mailboxCaps, keyEnvironment, tiers } = dependencies

  const registerOnce = async (who: Registrant & { readonly id: string }, address: string | null) => {
    const apiKey = createApiKey(keyEnvironment)
    const key = { fingerprint: sealer.fingerprint(apiKey), sealed: sealer.seal(apiKey, who.id) }
    return await accounts.register(who, key, { by: { actor: 'registration', address } })
  }

  /** Hashed: the database keeps no addresses of registrants with their accounts. */
  const nameRegistrant = (mailbox: string, network: string): string =>
    Buffer.from(sealer.fingerprint(`${mailbox} ${network}`)).toString('hex')

  return async (request, viewer, client = null) => {
    const email = readEmail(request.email)
    const project = readProjectName(request.projectName)
    const identity = identifyRegistrant(email, mailboxCaps)
    const isProven = isMailboxProven(mode, viewer)
    const registrant = isProven || client === null ? null : nameRegistrant(identity.mailbox, client.network)
    const registering = registerOnce(
      { id: randomUUID(), email, project, identity, isProven, registrant },
      client?.address ?? null,
    )
    if (mailKeys !== null) {
      // A cap would reveal how many projects the address has.
      const registered = await registering.catch(nullIfCapped)
      if (registered !== null) mailKeys([registered])
      // Same response for every address: only the e-mail reveals whether the project exists.
      const quota = viewQuota({ tier: tiers.registration }, unusedMonth(clock.now()), tiers)
      return { apiKey: maskedApiKey, projectName: project, quota, isNew: true }
    }
    const registered = await registering
    const { account, isNew } = registered
    if (account.status === 'revoked') throw new AppError('FORBIDDEN', 'This project is revoked')
    if (!isNew && !areKeysShown(mode, viewer)) {
      const quota = viewQuota(account, unusedMonth(clock.now()), tiers)
      return { apiKey: maskedApiKey, projectName: account.project, quota, isNew }
    }
    return {
      apiKey: openKey(sealer, registered),
      projectName: account.project,
      quota: viewQuota(account, await quotas.readUse(account.customer, clock.now()), tiers),
      isNew,
    }
  }
}

const nullIfCapped = (error: unknown): null => {
  if (error instanceof AppError && error.code === 'FORBIDDEN') return null
  throw error
}

interface LookUpDependencies {
  readonly accounts: AccountStore
  readonly sealer: Sealer
  readonly mode: Registration['mode']
  readonly mailKeys: MailKeys | null
}

export const createLookUp = (dependencies: LookUpDependencies): DashboardUseCases['lookUp'] => {
  const { accounts, sealer, mode, mailKeys } = dependencies
  return async (text, viewer) => {
    const email = readEmail(text)
    const found = await accounts.listByEmail(email)
    if (mailKeys === null) {
      const opener = areKeysShown(mode, viewer) ? sealer : null
      return { email, keys: found.map((keyed) => viewKey(keyed, opener)) }
    }
    mailKeys(found)
    // Even the number of keys would reveal whether the address is known.
    return { email, keys: [] }
  }
}

const maxLength = 100
// Zero-width joiners and variation selectors are allowed: scripts and emoji need them.
const forbidden = /(?!\u200c|\u200d|\ufe0e|\ufe0f)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u
const visible = /[\p{L}\p{N}\p{P}\p{S}]/u

/** Trimmed, Unicode NFC. Throws INVALID_REQUEST. */
export const readProjectName = (text: string): string => {
  const name = text.length > maxLength * 8 ? '' : text.trim().normalize('NFC')
  const { length } = [...name]
  if (length >= 1 && length <= maxLength && visible.test(name) && !forbidden.test(name)) return name
  throw new AppError(
    'INVALID_REQUEST',
    'projectName: must be 1 to 100 visible characters, without control characters',
  )
}

/** 0: no cap. */
export interface MailboxCapSettings {
  readonly projectsPerMailbox: number
  readonly mailboxesPerDomain: number
  /** Providers whose addresses belong to different people: no cap per domain. */
  readonly publicMailDomains: readonly string[]
}

const identifyRegistrant = (
  email: string,
  { projectsPerMailbox, mailboxesPerDomain, publicMailDomains }: MailboxCapSettings,
): NonNullable<Registrant['identity']> => {
  const mailbox = canonicalMailbox(email)
  const isPublic = publicMailDomains.includes(mailbox.domain)
  return {
    ...mailbox,
    maxProjects: projectsPerMailbox === 0 ? null : projectsPerMailbox,
    maxMailboxes: isPublic || mailboxesPerDomain === 0 ? null : mailboxesPerDomain,
  }
}
