import type { SettingsReading } from '../chain.js'

/** CAIP-2 identifiers. */
const sandboxNetworks = [
  'eip155:84532',
  'eip155:11155111',
  'eip155:421614',
  'eip155:11155420',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  'ton:testnet',
  'tron:nile',
] as const

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
