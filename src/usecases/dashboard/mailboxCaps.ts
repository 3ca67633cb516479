import type { Registrant } from '../../ports/accountStore.js'
import { canonicalMailbox } from './canonicalMailbox.js'

/** 0: no cap. */
export interface MailboxCapSettings {
  readonly projectsPerMailbox: number
  readonly mailboxesPerDomain: number
  /** Providers whose addresses belong to different people: no cap per domain. */
  readonly publicMailDomains: readonly string[]
}

export const identifyRegistrant = (
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
