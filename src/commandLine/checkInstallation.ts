import type { Finding } from '../admin/finding.js'
import { type Config, ConfigError } from '../config.js'
import { checkNetworks } from './checkNetworks.js'
import { checkStores } from './checkStores.js'

/** `read` may throw `ConfigError`. Changes nothing: no migration, no lease, no transaction. Every wait has a deadline. */
export const checkInstallation = async (read: () => Config): Promise<readonly Finding[]> => {
  const subject = 'configuration'
  let config: Config
  try {
    config = read()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map((text) => ({ level: 'error', subject, text }))
  }
  const [stores, networks] = await Promise.all([checkStores(config), checkNetworks(config.chains)])
  const valid: Finding = { level: 'ok', subject, text: `valid, ${config.chains.length} chain families` }
  return [valid, ...listRisks(config), ...stores, ...networks]
}

const listRisks = ({ accounts, stores, requestLimits, sandbox }: Config): readonly Finding[] => {
  const risks = [
    ...(sandbox === 'off' ? [] : ['the instance is a sandbox: no payment is real']),
    ...(accounts.registration === 'open'
      ? ['REGISTRATION is open: every caller sees the full key of every account']
      : []),
    ...(stores.databaseUrl !== null && accounts.keyEncryptionSecret === null
      ? ['KEY_ENCRYPTION_SECRET is unset: other instances cannot open the keys of this one']
      : []),
    ...(requestLimits === null ? ['RATE_LIMITS is off'] : []),
  ]
  return risks.map((text) => ({ level: 'warning', subject: 'configuration', text }))
}
