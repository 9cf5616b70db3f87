/** One settings document: the text in it, and the settings on the service that it was last in step with. */
import type { Uri } from 'vscode';
import { areSameSettings, formatSettings, type PgSettings } from '../../model/pgSettings.ts';
import type { SettingsOwner } from '../../model/settingsAddress.ts';

/** A refusal that stays on its setting for as long as the value stays. */
export interface Refusal {
  /** Undefined: about the document as a whole. */
  readonly key: string | undefined;
  readonly value: string | undefined;
  readonly words: string;
}

export class SettingsFile {
  readonly uri: Uri;
  readonly owner: SettingsOwner;
  /** What was saved last, applied or not. */
  text: string;
  /** The settings on the service that `text` began from: others there now mean that somebody else was faster. */
  base: PgSettings;
  /** Milliseconds; goes up whenever the text changes but by its editor. */
  changedAt = Date.now();
  /** The text was saved and is not what the compute has. */
  isDraft = false;
  /** Under way to the compute; it goes back to `before` when that fails. */
  pending: { readonly before: PgSettings } | undefined;
  refusal: Refusal | undefined;
  /** Being saved: what changes on the service meanwhile is its own doing. */
  isWriting = false;
  /** The compute is no longer there. */
  isGone = false;

  constructor(uri: Uri, owner: SettingsOwner, settings: PgSettings) {
    this.uri = uri;
    this.owner = owner;
    this.base = settings;
    this.text = formatSettings(settings);
  }

  /** Whether these are no news: what the text began from, or what a change under way goes back to if it fails. */
  knows(settings: PgSettings): boolean {
    if (areSameSettings(settings, this.base)) return true;
    return this.pending !== undefined && areSameSettings(settings, this.pending.before);
  }

  /** Takes over what somebody else has changed on the service. */
  follow(settings: PgSettings): void {
    this.base = settings;
    this.text = formatSettings(settings);
    this.refusal = undefined;
    this.changedAt = Math.max(Date.now(), this.changedAt + 1);
  }

  /** Saved, whatever becomes of it. */
  save(text: string): void {
    this.text = text;
    this.isDraft = true;
    this.changedAt = Math.max(Date.now(), this.changedAt + 1);
  }

  /** The service has taken the text. */
  accepted(settings: PgSettings, before: PgSettings, isPending: boolean): void {
    this.base = settings;
    this.isDraft = false;
    this.refusal = undefined;
    this.pending = isPending ? { before } : undefined;
  }

  /** The service has refused the text, at once or at the end of its operation. */
  refused(refusal: Refusal): void {
    if (this.pending !== undefined) this.base = this.pending.before;
    this.pending = undefined;
    this.isDraft = true;
    this.refusal = refusal;
  }
}
