import { z } from 'zod'
import type { ClaimDemands, ConfiguredRecipient } from '../protocol/recipients.js'

// CAIP-10, then what claims must show.
const entryForm = /^([-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}):([^\s,=]{1,256})=(\S+)$/
const ofAccountForm = /^(?:ownKey|uniqueAmount):([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

/** `near:mainnet:shop.near=memo+signedClaim`, comma separated. */
export const directRecipients = z.string().transform((text, context): readonly ConfiguredRecipient[] => {
  const recipients = text.split(',').map((entry) => readRecipient(entry.trim()))
  const valid = recipients.filter((recipient) => recipient !== null)
  if (valid.length === recipients.length) return valid
  context.addIssue({
    code: 'custom',
    message:
      'must list recipients such as near:mainnet:shop.near=memo+signedClaim or …=ownKey:<account id>, comma separated',
  })
  return z.NEVER
})

const readRecipient = (entry: string): ConfiguredRecipient | null => {
  const [, network = '', payTo = '', listed = ''] = entryForm.exec(entry) ?? []
  const names = listed.split('+')
  const accounts = new Set(names.flatMap((name) => ofAccountForm.exec(name)?.[1] ?? []))
  const [accountId = null] = accounts
  const isKnown = (name: string) => name === 'memo' || name === 'signedClaim' || ofAccountForm.test(name)
  if (network === '' || accounts.size > 1 || !names.every(isKnown)) return null
  const demands: ClaimDemands = {
    memo: names.includes('memo'),
    signedClaim: names.includes('signedClaim'),
    uniqueAmount: names.some((name) => name.startsWith('uniqueAmount:')),
    ownKey: names.some((name) => name.startsWith('ownKey:')),
  }
  return { network, payTo, demands, accountId }
}
