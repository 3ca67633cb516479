/** Who gets to see a key: whoever asks, or only who reads the mail of its address. */
export type RegistrationMode = 'open' | 'verified'
