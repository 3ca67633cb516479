import type { SettingsReading } from '../chain.js'
import { sandboxNetworks } from './networks.js'

export interface SandboxSettings {
  /** CAIP-2 identifiers. */
  readonly networks: readonly string[]
}

/** Nothing but `SANDBOX=true` enables it. */
export const readSandboxSettings = (
  environment: Readonly<Record<string, string>>,
): SettingsReading<SandboxSettings> => ({
  settings: environment.SANDBOX === 'true' ? { networks: sandboxNetworks } : null,
})
