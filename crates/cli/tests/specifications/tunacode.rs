//! tunacode
