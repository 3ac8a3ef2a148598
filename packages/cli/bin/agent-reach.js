#!/usr/bin/env -S node --max-semi-space-size=32
import "../dist/main.js";
